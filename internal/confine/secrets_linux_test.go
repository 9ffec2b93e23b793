//go:build amd64 || arm64

package confine_test

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/egress/egresstest"
	"hermes/internal/egress/swap"
	"hermes/internal/environment"
	"hermes/internal/sandbox"
)

// TestTheAuthorityIsTriedAgainAfterAnError: until it is there commands are an error, and from
// then on they have it.
func TestTheAuthorityIsTriedAgainAfterAnError(t *testing.T) {
	t.Parallel()
	s := newScene(t, sandbox.B)
	bundle := filepath.Join(t.TempDir(), "authorities.pem")
	env := []string{"PATH=/usr/bin:/bin", "HOME=" + s.home}
	walls := s.program.Walls(confine.Config{Session: "s2", Workspace: s.dir, Environ: env, Secrets: swap.Config{
		Secrets: []swap.Secret{{Name: "TOKEN", Value: "CANARY-TOKEN", Hosts: []string{"api.test"}, Methods: []string{"*"}, Paths: []string{"/"}}}, Bundle: bundle,
	}})
	local, err := environment.NewLocal(environment.LocalConfig{Dir: s.dir, Home: s.home, Env: env, Walls: walls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	run := func() (string, error) {
		var out bytes.Buffer
		_, err := local.Exec(t.Context(), hermes.Command{Line: "echo $SSL_CERT_FILE", Stdout: &out, Stderr: &out})
		return strings.TrimSpace(out.String()), err
	}
	for range 2 {
		if got, err := run(); err == nil || !strings.Contains(err.Error(), "authority for declared secrets") {
			t.Errorf("without the system's authorities: %q, %v", got, err)
		}
	}
	trust := filepath.Join(s.state, "cache", "sandbox", "trust")
	if left, err := os.ReadDir(trust); len(left) > 0 || err != nil {
		t.Errorf("what failed left %v, %v", left, err)
	}
	system := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: egresstest.NewAuthority(t).Cert.Raw})
	if err := os.WriteFile(bundle, system, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := run(); err != nil || !strings.HasPrefix(got, trust) {
		t.Errorf("SSL_CERT_FILE is %q, %v, want a file below %s", got, err, trust)
	}
}
