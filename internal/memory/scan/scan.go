// Package scan looks for text that must not get into the prompts of later sessions:
// orders to the model, ways to leak secrets, hidden text, and secrets themselves. It is
// asked of everything that is remembered, by hand or by a service, and knows nothing of
// where that is stored.
package scan

import (
	"regexp"
	"strings"

	"hermes/internal/lazy"
	"hermes/internal/policy"
	"hermes/internal/redact"
)

// Threat is the name of a pattern that does not belong in a memory, "" for none.
type Threat string

// The patterns of this package. Those of policy.Injection keep their names.
const (
	exfiltration    Threat = "exfiltration"
	secretFiles     Threat = "read_secrets"
	sshBackdoor     Threat = "ssh_backdoor"
	rolePlay        Threat = "role_play"
	configTampering Threat = "config_tampering"
	controls        Threat = "control_characters"
	secret          Threat = "embedded_secret"
)

// Kind says what the threat is, for people and the model.
func (t Threat) Kind() string {
	switch t {
	case secret:
		return "a secret; write where it is stored instead of the secret itself"
	case controls, "invisible_unicode":
		return "hidden text"
	case exfiltration, secretFiles, "exfil_curl":
		return "an order to leak secrets"
	case sshBackdoor, "run_download":
		return "an order to give others access"
	case configTampering:
		return "an order to change the configuration of Hermes"
	}
	return "an order to the model"
}

// Text looks for content that must not get into later prompts: orders, ways to
// leak secrets, hidden text, and secrets themselves. Text that only mentions
// such things passes.
func Text(text string) Threat {
	if t := Orders(text); t != "" {
		return t
	}
	if redact.Text(text) != text {
		return secret
	}
	return ""
}

// Orders is Text without the check for secrets.
func Orders(text string) Threat {
	if name := policy.Injection(text); name != "" {
		return Threat(name)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
		return controls
	}
	low := policy.Fold(text)
	for i := range patterns {
		if patterns[i].found(low) {
			return patterns[i].threat
		}
	}
	return ""
}

// pattern is matched against folded text that contains one of its stems.
// Most text contains none.
type pattern struct {
	threat Threat
	stems  []string
	expr   func() *regexp.Regexp
	unless func() *regexp.Regexp // a match that contains this is harmless
}

func (p pattern) found(low string) bool {
	stem := false
	for _, s := range p.stems {
		stem = stem || strings.Contains(low, s)
	}
	if !stem {
		return false
	}
	if p.unless == nil {
		return p.expr().MatchString(low)
	}
	for _, m := range p.expr().FindAllString(low, 20) {
		if !p.unless().MatchString(m) {
			return true
		}
	}
	return false
}

// secretLocation matches files and folders of secrets, but not public keys.
const secretLocation = `(?:\.ssh/|id_rsa|id_ed25519|id_ecdsa|\.env\b|\.aws/|\.gnupg|\.netrc|\.pgpass|\.kube/config|/etc/shadow|/etc/passwd|auth\.json|credentials)`

var patterns = []pattern{
	{
		threat: secretFiles, stems: []string{"cat ", "less ", "more ", "head ", "tail ", "base64 ", "xxd ", "strings ", "type "},
		expr:   lazy.Regexp(`\b(?:cat|less|more|head|tail|base64|xxd|strings|type)\s+(?:-\S+\s+)*["']?[~$./\w{}-]*` + secretLocation + `\S*`),
		unless: lazy.Regexp(`\.pub\b|\.ssh/config|\.env[\w.-]*\.(?:example|sample|template|dist)|/etc/passwd`),
	},
	{
		threat: exfiltration, stems: []string{"curl", "wget", "nc ", "ncat", "netcat", "scp", "rsync", "sftp", "ftp"},
		expr:   lazy.Regexp(`\b(?:curl|wget|nc|ncat|netcat|scp|rsync|sftp|ftp)\s[^\n]*` + secretLocation + `|` + secretLocation + `[^\n]*\|\s*(?:curl|wget|nc|ncat|netcat)\b`),
		unless: lazy.Regexp(`\.pub\b|--netrc|ssh/config`),
	},
	{
		threat: exfiltration, stems: []string{"send", "upload", "post", "forward", "exfiltrat", "transmit", "leak", "mail", "push", "copy"},
		expr: lazy.Regexp(`\b(?:send|upload|post|forward|exfiltrate|transmit|leak|e?mail|push|copy)(?:ing)?\b[^\n.]{0,60}` +
			`(?:password|passphrase|secret|token|api[ _-]?key|credential|private key|\.env\b|\.ssh|conversation|chat history|transcript|memor(?:y|ies))s?\b[^\n]{0,60}(?:https?://|\bto\s+\S+@\S+|\bto\s+\d+\.\d+\.\d+\.\d+)`),
		unless: lazy.Regexp(`header|bearer|authorization|placeholder`),
	},
	{
		threat: exfiltration, stems: []string{"!["},
		expr: lazy.Regexp(`!\[[^\]]*\]\(https?://[^)\s]*[?&/=][^)\s]*(?:\{|\$|%7b|<)`),
	},
	{
		threat: sshBackdoor, stems: []string{".ssh"},
		expr:   lazy.Regexp(`(?:\b(?:cp|mv|install|ln|tee|rsync|scp|curl|wget|cat|echo|printf|ssh-copy-id)\b[^\n|;]*\s|>>?\s*)["']?[~$./\w{}-]*\.ssh/\S*`),
		unless: lazy.Regexp(`^(?:cat|scp|rsync)\b|\.pub\b|\.ssh/(?:config|known_hosts)`),
	},
	{
		threat: sshBackdoor, stems: []string{"authorized_keys", "sshd_config"},
		expr: lazy.Regexp(`(?:>>?|\btee\b|\b(?:add|append|write|put|insert|install|echo|copy|place)\b)[^\n]{0,200}(?:authorized_keys|sshd_config)` +
			`|(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S+)\s+aaaa[^\n]*authorized_keys|authorized_keys[^\n]*(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\S+)\s+aaaa`),
	},
	{
		threat: rolePlay, stems: []string{"you are now", "you're now", "from now on", "pretend", "act as", "behave as", "respond as", "your new identity", "your new persona"},
		expr: lazy.Regexp(`\byou(?:'re|\s+are)\s+now\s+(?:an?|the|my|dan|free|unrestricted|uncensored|jailbroken)\b` +
			`|\bpretend\s+(?:to\s+be|that\s+you|you(?:'re|\s+are))` +
			`|\b(?:act|behave|respond)\s+as\s+(?:if\s+you|though\s+you|dan\b|root\b|an?\s+(?:unrestricted|uncensored|unfiltered|evil|jailbroken|different)|the\s+(?:system|developer|administrator))` +
			`|\bfrom\s+now\s+on,?\s+you(?:'re|\s+are|\s+will|\s+must|\s+have|\s+shall)\b|\byour\s+new\s+(?:identity|persona)\b`),
	},
	{
		threat: configTampering, stems: []string{"soul.md", ".hermes", "hermes config", "command_allowlist", "approvals", "hermes_yolo"},
		expr: lazy.Regexp(`(?:^|\b(?:always|must|silently|secretly|automatically|first|then|please|and)\s+)(?:edit|modify|overwrite|rewrite|append|write|insert|change|patch|update|add|set|replace|delete)\b[^\n]{0,80}(?:soul\.md|\.hermes\b|hermes\s+config|command_allowlist|approvals\.)` +
			`|\bapprovals\.mode\s*(?:[:=]|to)\s*["']?(?:off|never|auto)|\bhermes_yolo_mode\s*=`),
	},
	{
		threat: configTampering, stems: []string{"approval", "guardrail", "safety", "security", "sandbox", "redaction", "permission"},
		expr: lazy.Regexp(`\b(?:disable|turn\s+off|switch\s+off|bypass|circumvent|evade)\s+(?:\w+\s+){0,3}(?:approvals?|guardrails?|(?:safety|security|permission)\s+(?:check|prompt|rule|filter)s?|sandbox(?:ing)?|redaction)\b`),
	},
}
