package attack

import (
	"context"
	"os"
)

// settings looks at the live home: who may read its secrets, whether the record is whole, and which settings allow by
// themselves what is else asked about.
func settings(ctx context.Context, s *scene, tell func(Result)) error {
	h, err := s.live.Home()
	if err != nil {
		return err
	}
	for _, name := range []string{"auth.json", "audit.key", ".env", "permissions.yaml", "config.yaml"} {
		info, err := os.Stat(h.Join(name))
		switch {
		case err != nil:
			continue
		case info.Mode().Perm()&0o022 != 0 || info.Mode().Perm()&0o077 != 0 && name != "config.yaml" && name != "permissions.yaml":
			tell(Result{Name: "let others at " + name, Verdict: Failed, Text: "its mode is " + info.Mode().Perm().String() + "; run chmod 600 on it"})
		default:
			tell(Result{Name: "let others at " + name, Verdict: Held})
		}
	}
	if err := record(ctx, s, tell); err != nil {
		return err
	}
	cfg, err := s.live.Config()
	if err != nil {
		return err
	}
	userHome, _ := os.UserHomeDir() // without one nothing is below it
	weak := func(is bool, setting, text string) {
		if is {
			tell(Result{Name: setting, Verdict: Weak, Text: text})
		}
	}
	weak(cfg.Approvals().Mode == "off", "approvals.mode: off", "sessions begin in yolo: only taint, rules and messages ask")
	weak(cfg.Approvals().SingleQueryMode == "approve", "approvals.single_query_mode: approve", "risky calls run in hermes -z")
	weak(cfg.Approvals().UnattendedMode == "approve", "approvals.unattended_mode: approve", "risky calls run where no user can be asked")
	weak(cfg.Terminal().Sandbox == "off", "terminal.sandbox: off", "commands have no walls")
	weak(!cfg.Security().RedactSecrets, "security.redact_secrets: false", "the model reads secrets")
	weak(cfg.Security().AllowPrivateURLs, "security.allow_private_urls: true", "pages of your own network can be fetched")
	weak(cfg.Evidence().Check == "off", "evidence.check: off", "answers are not compared with what was done")
	for _, f := range cfg.Security().TrustedFolders {
		weak(f == "~" || f == "/" || f == userHome, "security.trusted_folders: "+f, "text of all your files counts as your own")
	}
	for _, k := range cfg.General().CommandAllowlist {
		weak(true, "command_allowlist: "+k, "commands of this kind are never asked about")
	}
	return nil
}

// record verifies the live audit log.
func record(ctx context.Context, s *scene, tell func(Result)) error {
	const name = "find a change in the audit log"
	l, err := s.live.Audit()
	if err != nil {
		return err
	}
	r, err := l.Verify(ctx)
	switch {
	case err != nil && os.IsNotExist(err), err == nil && r.Rows == 0:
		tell(Result{Name: name, Verdict: NotTried, Text: "nothing was recorded yet"})
	case err != nil:
		tell(Result{Name: name, Verdict: NotTried, Text: err.Error()})
	case len(r.Problems) > 0:
		tell(Result{Name: name, Verdict: Failed, Text: "the record is not as it was written: run hermes audit verify"})
	default:
		tell(Result{Name: name, Verdict: Held})
	}
	return nil
}
