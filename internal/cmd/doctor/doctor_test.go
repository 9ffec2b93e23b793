package doctor_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/cmd/doctor"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/setup"
)

func run(t *testing.T, free uint64, args ...string) (string, error) {
	t.Helper()
	h := home.At(filepath.Join(t.TempDir(), "h"))
	none := func(string) (string, bool) { return "", false }
	cmd := doctor.NewCmd(func() (setup.Deps, error) {
		return setup.Deps{
			Home:     h,
			Load:     func() *config.Config { return config.Load(h, config.Options{Managed: "-", LookupEnv: none}) },
			LookPath: func(name string) (string, error) { return "/bin/" + name, nil },
			Getenv:   func(string) string { return "" },
			Free:     func(string) (uint64, error) { return free, nil },
			Now:      time.Now,
		}, nil
	}, nil)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestAllInOrder(t *testing.T) {
	t.Parallel()
	out, err := run(t, 9<<30)
	if err != nil || !strings.Contains(out, "✓ disk             9.0 GB are free\n") || strings.Contains(out, "✗") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAFailureIsTheExitStatus(t *testing.T) {
	t.Parallel()
	out, err := run(t, 1)
	if err == nil || !strings.Contains(out, "✗ disk") || !strings.Contains(out, "→ Make room") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = run(t, 1, "--json")
	if err == nil || !strings.Contains(out, `{"name":"disk","verdict":"fail","text":"only 1 bytes are left`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestWithoutAHomeItSaysWhy(t *testing.T) {
	t.Parallel()
	cmd := doctor.NewCmd(func() (setup.Deps, error) { return setup.Deps{}, errors.New("no place") }, nil)
	cmd.SetArgs(nil)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err == nil || err.Error() != "no place" {
		t.Errorf("got %v", err)
	}
}
