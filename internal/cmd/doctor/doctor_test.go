package doctor_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/app"
	"hermes/internal/cmd/doctor"
	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/setup"
)

func run(t *testing.T, free uint64, args ...string) (string, error) {
	t.Helper()
	h := home.At(filepath.Join(t.TempDir(), "h"))
	none := func(string) (string, bool) { return "", false }
	cmd := doctor.NewCmd(factory.New(app.Options{}, factory.IO{}), func() (setup.Deps, error) {
		return setup.Deps{
			Home:     h,
			Load:     func() *config.Config { return config.Load(h, config.Options{Managed: "-", LookupEnv: none}) },
			LookPath: func(name string) (string, error) { return "/bin/" + name, nil },
			Getenv:   func(string) string { return "" },
			Free:     func(string) (uint64, error) { return free, nil },
			Now:      time.Now,
		}, nil
	})
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestNoProblems(t *testing.T) {
	t.Parallel()
	out, err := run(t, 9<<30)
	if err != nil || !strings.Contains(out, "✓ disk             9.0 GB free\n") || strings.Contains(out, "✗") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAFailureIsTheExitStatus(t *testing.T) {
	t.Parallel()
	out, err := run(t, 1)
	if err == nil || !strings.Contains(out, "✗ disk") || !strings.Contains(out, "→ Free space") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = run(t, 1, "--json")
	if err == nil || !strings.Contains(out, `{"name":"disk","verdict":"fail","text":"only 1 B left`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOneFailureIsSingular(t *testing.T) {
	t.Parallel()
	_, err := run(t, 1)
	if want := "1 check failed"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestLongTextsStayInTheirColumn checks a text with many lines and terminal codes on a
// terminal of 52 columns.
func TestLongTextsStayInTheirColumn(t *testing.T) {
	t.Parallel()
	h := home.At(filepath.Join(t.TempDir(), "h"))
	none := func(string) (string, bool) { return "", false }
	cmd := doctor.NewCmd(factory.New(app.Options{}, factory.IO{}), func() (setup.Deps, error) {
		return setup.Deps{
			Home: h, LookPath: func(name string) (string, error) { return "/bin/" + name, nil }, Getenv: func(string) string { return "" },
			Load: func() *config.Config { return config.Load(h, config.Options{Managed: "-", LookupEnv: none}) },
			Free: func(string) (uint64, error) { return 9 << 30, nil },
			Model: func(context.Context) (string, error) {
				return "", errors.New("the server says \x1b[31m502\x1b[0m:\n<html>\n  <b>Bad gateway, and this is what it has to say about it</b>\n</html>\n\nand more")
			},
			Terminal: setup.Terminal{Output: true, Columns: 52}, Now: time.Now,
		}, nil
	})
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs(nil)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	_ = cmd.ExecuteContext(t.Context()) // the model fails, as is meant
	_, text, _ := strings.Cut(out.String(), "✗ model")
	text, _, _ = strings.Cut(text, "✓ shell")
	want := `            the server says ␛[31m502␛[0m:
                   <html>
                   <b>Bad gateway, and this is what
                   it has to say about it</b>
                   </html>
                   → Choose one with ` + "`hermes model`\n"
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
}

func TestWithoutAHomeItSaysWhy(t *testing.T) {
	t.Parallel()
	cmd := doctor.NewCmd(factory.New(app.Options{}, factory.IO{}), func() (setup.Deps, error) { return setup.Deps{}, errors.New("no home") })
	cmd.SetArgs(nil)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.Execute(); err == nil || err.Error() != "no home" {
		t.Errorf("got %v", err)
	}
}
