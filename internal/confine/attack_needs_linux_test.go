//go:build amd64 || arm64

package confine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/confine"
	"hermes/internal/environment"
	"hermes/internal/sandbox"
)

// plantFiles writes what the user's tools run, and what git obeys.
const plantFiles = `; echo CANARY > .git/hooks/pre-commit; printf '[core]\n\tfsmonitor = CANARY\n' >> .git/config; echo CANARY > .envrc; mkdir -p .vscode; echo CANARY > .vscode/tasks.json; true`

// A need opens what it names, not what is protected below it.
func TestAttackNeedsTheWorkspace(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		runGit(t, s.home, s.dir, "init", "-q", ".")
		s.write(t, ".envrc", "export A=1\n")
		s.write(t, ".vscode/tasks.json", "{}\n")
		s.write(t, "sub/.vscode/tasks.json", "{}\n")
		for _, need := range []string{s.dir, s.home + "/..", filepath.Join(s.dir, ".git"), filepath.Join(s.dir, "sub")} {
			need = filepath.Clean(need)
			_, _ = s.try(t, "true"+plantFiles+"; echo CANARY > sub/.vscode/tasks.json", s.tools, needs("write "+need))
			for _, path := range []string{".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json", "sub/.vscode/tasks.json"} {
				if strings.Contains(s.holds(path), canary) {
					t.Errorf("with the need of %s it wrote %s", need, path)
				}
			}
			if got := s.walls.Opens(t.Context(), hermes.Need{Kind: hermes.RefusedWrite, Name: need}); !strings.Contains(got.Refuse, "written already") {
				t.Errorf("the need of %s is not refused: %+v", need, got)
			}
		}
	})
}

// Needs of what is protected itself go on to be asked about, and to open it.
func TestNeedsOpenWhatTheyName(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		runGit(t, s.home, s.dir, "init", "-q", ".")
		s.write(t, ".vscode/tasks.json", "{}\n")
		s.run(t, "true", s.tools)
		if err := os.Mkdir(filepath.Join(s.home, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		for need, file := range map[string]string{".git/config": ".git/config", ".git/hooks": ".git/hooks/x", ".vscode": ".vscode/tasks.json", ".vscode/tasks.json": ".vscode/tasks.json", "../data": "../data/x"} {
			n := hermes.Need{Kind: hermes.RefusedWrite, Name: filepath.Join(s.dir, need)}
			if got := s.walls.Opens(t.Context(), n); got.Refuse != "" {
				t.Errorf("%s: %+v", need, got)
			}
			if s.run(t, "echo '# mine' >> "+file, s.tools, needs(n.String())); !strings.Contains(s.holds(file), "# mine") {
				t.Errorf("the need of %s did not open %s", need, file)
			}
		}
	})
}

// other makes another project of the user, with secrets.
func (s *target) other(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(s.home, "proj2")
	for path, text := range map[string]string{"build.txt": "x\n", "src/a": "x", "new/a": "x", ".env": canary + "-ENV2", "sub/.env.local": canary + "-ENV3", "id_rsa": canary + "-KEY", "tls/server.pem": "-----BEGIN PRIVATE KEY-----\n" + canary,
		"tls/ca.pem": "-----BEGIN CERTIFICATE-----\n", ".envrc": "export A=1\n", ".vscode/tasks.json": "{}\n", "secrets.yaml": canary + "-YAML"} {
		s.write(t, filepath.Join("../proj2", path), text)
	}
	runGit(t, s.home, dir, "init", "-q", ".")
	return dir
}

// readOther prints what must not be read in the other project.
const readOther = "cat .env sub/.env.local id_rsa tls/server.pem secrets.yaml; mv .env e; mv sub s; cat e s/.env.local; grep -r CANAR[Y] ."

// A need for a folder opens neither the secrets in it nor what runs later.
func TestAttackNeedsAnotherProject(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		dir := s.other(t)
		for _, mode := range []string{"once", "session"} {
			change := []func(*hermes.Command){s.tools}
			if mode == "once" {
				change = append(change, needs("write "+dir))
			} else {
				s.granted = []hermes.Need{{Kind: hermes.RefusedWrite, Name: dir}}
			}
			out, exit := s.run(t, "cd "+dir+"; cat tls/ca.pem; mkdir -p new src && echo done > src/x.txt; "+readOther+"; touch .gitconfig; mkdir -p new/.vscode; echo CANARY > new/.vscode/tasks.json; echo CANARY > new/.envrc"+plantFiles, change...)
			if strings.Contains(out, canary) {
				t.Errorf("%s: a secret was read: %s", mode, out)
			}
			if !strings.Contains(out, "BEGIN CERTIFICATE") || s.holds("../proj2/src/x.txt") != "done\n" {
				t.Errorf("%s: the rest is not open: %s", mode, out)
			}
			for _, path := range []string{".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json", "new/.vscode/tasks.json", "new/.envrc"} {
				if strings.Contains(s.holds("../proj2/"+path), canary) {
					t.Errorf("%s: it wrote %s: %v", mode, path, exit.Refused)
				}
			}
		}
		out, _ := s.run(t, "cat "+dir+"/id_rsa", s.tools, needs("read "+dir+"/id_rsa"))
		if !strings.Contains(out, canary+"-KEY") {
			t.Errorf("the need of the file itself did not open it: %s", out)
		}
	})
}

// A need to read a folder does not open the secrets in it.
func TestAttackNeedsToReadAnotherProject(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		dir := s.other(t)
		out, _ := s.run(t, "cd "+dir+"; cat build.txt; "+readOther, s.tools, needs("read "+dir))
		if strings.Contains(out, canary) || !strings.HasPrefix(out, "x") {
			t.Errorf("got %s", out)
		}
	})
}

// What runs on with a grant of the session is looked at again when the session ends.
func TestAttackChangesAnotherProjectAfterTheLastCommand(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		dir := s.other(t)
		s.granted = []hermes.Need{{Kind: hermes.RefusedWrite, Name: dir}}
		s.run(t, "(while [ ! -e go ]; do sleep 0.01; done; mkdir -p "+dir+"/new; echo CANARY > "+dir+"/new/.envrc; echo CANARY > "+dir+"/.git/hooks/post-commit; echo x > went; sleep 100) >/dev/null 2>&1 &", s.tools)
		s.write(t, "go", "x")
		s.await(t, "went")
		s.Local.Close()
		if a, b := s.holds("../proj2/new/.envrc"), s.holds("../proj2/.git/hooks/post-commit"); a+b != "" {
			t.Errorf("the user's tools would run it: %q %q", a, b)
		}
	})
}

// What the user changes in another project while no need opens it stays.
func TestNeedsKeepWhatTheUserChangesInAnotherProject(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		dir := s.other(t)
		s.run(t, "echo x > "+dir+"/a", s.tools, needs("write "+dir))
		s.write(t, "../proj2/.envrc", "export B=2\n")
		s.write(t, "../proj2/.git/hooks/pre-commit", "#!/bin/sh\n")
		s.run(t, "(sleep 5) >/dev/null 2>&1 & true", s.tools)
		s.write(t, "../proj2/.envrc", "export C=2\n")
		s.run(t, "echo x > "+dir+"/a", s.tools, needs("write "+dir))
		if a, b := s.holds("../proj2/.envrc"), s.holds("../proj2/.git/hooks/pre-commit"); a != "export C=2\n" || b != "#!/bin/sh\n" {
			t.Errorf("the user's own changes are gone: %q %q", a, b)
		}
	})
}

// A question about a folder says what it holds.
func TestNeedsSayWhatAFolderHolds(t *testing.T) {
	s := newTarget(t, sandbox.A, leaf)
	dir := s.other(t)
	plain := filepath.Join(s.home, "plain")
	s.write(t, "../plain/a/b.txt", "x")
	s.write(t, "../deps/node_modules/x/a.js", "x")
	for need, want := range map[string]string{
		"write " + dir: ".git", "read " + dir: ".env", "write " + plain: "", "read " + plain: "", "read " + dir + "/build.txt": "", "write " + s.home + "/deps": "more files",
	} {
		n, _ := hermes.ParseNeed(need)
		if got := s.walls.Opens(t.Context(), n); got.Refuse != "" || !strings.Contains(got.Holds, want) || (want == "") != (got.Holds == "") {
			t.Errorf("%s: %+v", need, got)
		}
	}
}

// A program that a command put into a folder of PATH, by a need that is over, does not run
// outside.
func TestAttackPlantsAProgramInThePath(t *testing.T) {
	for _, l := range layers {
		s := newTarget(t, l, leaf, func(home string) { executable(t, filepath.Join(home, "tools/mytool"), "#!/bin/sh\n") })
		tools := filepath.Join(s.home, "tools")
		if err := os.Symlink(tools, filepath.Join(s.home, "bin")); err != nil {
			t.Fatal(err)
		}
		for _, need := range []string{tools, s.home + "/tools/mytool", s.home + "/tools"} {
			s := s.again(t, filepath.Join(s.home, "bin"))
			n := hermes.Need{Kind: hermes.RefusedWrite, Name: need}
			if got := s.walls.Opens(t.Context(), n); !strings.Contains(got.Holds, "PATH") {
				t.Errorf("the need of %s is an ordinary one: %+v", need, got)
			}
			s.run(t, "printf '#!/bin/sh\\necho "+canary+"\\n' > "+s.home+"/tools/mytool; chmod +x "+s.home+"/tools/mytool", s.tools, needs(n.String()))
			s.run(t, "true", s.tools) // the place of the need is closed
			if out, _ := s.run(t, "mytool", func(c *hermes.Command) { c.Outside = true }); strings.Contains(out, canary) {
				t.Errorf("layer %s: it ran outside after the need of %s: %s", l, need, out)
			}
			executable(t, filepath.Join(s.home, "tools/mytool"), "#!/bin/sh\n")
		}
	}
}

// again opens another session in the same workspace, with more folders in its PATH.
func (s *target) again(t *testing.T, folders ...string) *target {
	t.Helper()
	env := []string{"PATH=" + strings.Join(append(folders, "/usr/local/bin", "/usr/bin", "/bin"), ":"), "HOME=" + s.home, "LANG=C.UTF-8"}
	c := *s.scene
	c.walls = c.program.Walls(confine.Config{Session: "s2", Workspace: c.dir, Environ: env})
	local, err := environment.NewLocal(environment.LocalConfig{Dir: c.dir, Home: c.home, Env: env, Temp: t.TempDir(), Walls: c.walls})
	if err != nil {
		t.Fatal(err)
	}
	c.Local = local
	t.Cleanup(func() { local.Close() })
	c.walls.Build(t.Context())
	return &target{scene: &c, port: s.port}
}

// What the user allowed one command ends with it, also for what it left running.
func TestAttackKeepsWhatOneCommandWasAllowed(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.write(t, "../data/log", "x\n")
		data := filepath.Join(s.home, "data")
		s.run(t, "(while :; do echo x >> "+data+"/log; sleep 0.01; done) >/dev/null 2>&1 & sleep 0.1", s.tools, needs("write "+data))
		size := s.size("../data/log")
		if size < 4 {
			t.Fatal("the need opened nothing")
		}
		s.run(t, "sleep 0.2", s.tools)
		if now := s.size("../data/log"); now != size {
			t.Errorf("it was written from %d to %d bytes", size, now)
		}
		s.run(t, "(sleep 100) >/dev/null 2>&1 &", s.tools) // what needs nothing runs on
		s.run(t, "true", s.tools, needs("read "+data))
		if out, _ := s.run(t, "ps ax 2>/dev/null | grep -c '[s]leep 100' || true", s.tools); s.layer() == sandbox.A && out == "0" {
			t.Error("a command without a need was ended, too")
		}
	})
}

// A background command has what it was allowed as long as it runs.
func TestNeedsLastAsLongAsABackgroundCommand(t *testing.T) {
	both(t, func(t *testing.T, s *target) {
		s.write(t, "../data/log", "x\n")
		data := filepath.Join(s.home, "data")
		p, err := s.Start(t.Context(), hermes.Command{Line: "while [ ! -e stop ]; do sleep 0.01; done; echo end >> " + data + "/log", Background: true, Need: []hermes.Need{{Kind: hermes.RefusedWrite, Name: data}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		s.run(t, "true", s.tools, needs("write "+data)) // another one with the same need
		s.run(t, "touch stop", s.tools)
		if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 0 || !strings.Contains(s.holds("../data/log"), "end") {
			t.Errorf("it ended with %v %v: %q", exit, err, s.holds("../data/log"))
		}
	})
}
