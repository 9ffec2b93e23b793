package mount_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sandbox/mount"
)

// workspace makes a folder that looks like a repository, and returns what protects it.
func workspace(t *testing.T) (string, mount.Root) {
	t.Helper()
	ws := folder(t) + "/ws"
	files(t, ws, ".git/config", ".git/hooks/pre-commit", ".git/objects/", ".git/HEAD", "sub/deep/.npmrc", "src/main.go", ".env", "secrets/key")
	return ws, mount.Root{
		Read: system(t), Write: []string{ws},
		Protected: []string{ws + "/.git/config", ws + "/.git/hooks", ws + "/.git/commondir", ws + "/sub/deep/.npmrc", ws + "/.envrc"},
		Hidden:    []string{ws + "/.env", ws + "/secrets", ws + "/nothing"},
	}
}

func TestProtectedPathsStay(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]string{
		"write":            "echo x > .git/config; echo x > .git/hooks/pre-commit; echo x > .git/hooks/new; echo x > sub/deep/.npmrc",
		"remove":           "rm -rf .git/config .git/hooks sub/deep/.npmrc; rmdir .git/hooks; rm -rf .git sub",
		"rename itself":    "mv .git/config .git/c; mv .git/hooks .git/h; mv sub/deep/.npmrc x",
		"rename over it":   "echo x > y; mv -f y .git/config; mkdir h; mv -fT h .git/hooks; ln -f y .git/config; ln -sfn /tmp .git/hooks",
		"rename .git":      "mv .git x && mkdir .git",
		"rename sub":       "mv sub x && mkdir sub",
		"rename deep":      "mv sub/deep x && mkdir sub/deep",
		"rename workspace": "cd /; mv $WS $WS.old; mv $(dirname $WS) /x",
		"exchange":         "mkdir -p x/hooks y; go exchange .git x; go exchange sub y; go exchange .git/config src/main.go; go exchange .git/hooks x/hooks",
		"through proc":     "for p in /proc/1/root /proc/self/root /proc/1/cwd /proc/self/cwd; do echo x > $p$WS/.git/config; rm -rf $p$WS/.git/hooks; mv $p$WS/.git $p$WS/x; done; echo x > /proc/self/cwd/.git/config; exec 3<.git/config; echo x > /proc/self/fd/3",
		"unmount":          "umount .git/config; umount -l .git; umount -l $WS; umount -l /; go unmount .git .git/config .git/hooks sub sub/deep . /",
		"remount":          "mount -o remount,rw,bind .git/config; mount -o remount,rw .git/hooks; mount --make-rshared /; go writable .git/config .git/hooks .git .",
		"bind over":        "mkdir -p x; mount --bind x .git/hooks; mount --bind x .git; mount --move .git x",
		"new namespace":    "ns 'echo in; umount .git/config; umount -l .git/hooks; umount -l .git; umount -l $WS; mount -o remount,rw,bind .git/config; mv .git x; mv sub x; echo x > .git/config; false'",
		"bind elsewhere":   "mkdir x /run/m; ns 'mount --bind . x; mount --rbind . x; cd x; umount .git/config; mv .git y; mv sub y; echo x > .git/config; echo x > .git/hooks/pre-commit; mount --rbind $WS /run/m && cd /run/m && echo bound && (umount -l .git; mv .git z; echo x > .git/config); false'; rmdir x",
		"private mounts":   "mkdir /run/m; ns 'mount -t tmpfs none /run/m; mkdir -p /run/m/w; mount --rbind $WS /run/m/w; cd /run/m/w; for i in 1 2 3; do umount -l .git/config; umount -l .git; done; mv .git z; echo x > .git/config; false'",
		"raw calls":        "cp /proc/1/exe /run/a; MOUNT_TEST_ATTACK=unmount; export MOUNT_TEST_ATTACK; ns '/run/a .git .git/config .git/hooks sub . /; false'; MOUNT_TEST_ATTACK=writable; ns '/run/a .git/config .git/hooks .git .; echo x > .git/config; false'; MOUNT_TEST_ATTACK=shallow; ns '/run/a . .git /; false'",
		"attributes":       "chmod 777 .git/config .git/hooks; touch -d 2001-01-01 .git/config; setfattr -n user.x -v y .git/config; chmod +x .git/config; truncate -s 0 .git/config",
		"hard link":        "ln .git/config c && echo x > c; ln .git/hooks/pre-commit p && echo x > p",
		"new root":         "mkdir -p /run/m; ns 'mount --rbind / /run/m; cd /run/m; pivot_root . run; chroot /run/m sh -c \"echo x > $WS/.git/config\"; echo x > /run/m/$WS/.git/config; echo x > $WS/.git/config; false'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws, r := workspace(t)
			before := contents(t, ws, ".git/config", ".git/hooks/pre-commit", "sub/deep/.npmrc")
			names := tree(t, ws+"/.git/hooks")
			o := build(t, job{Root: r, Env: []string{"WS=" + ws}, Scripts: []string{
				"cd $WS && (" + attack + ") 2>&1",
				"cd $WS && cat .git/config .git/hooks/pre-commit sub/deep/.npmrc && touch .git/ok src/ok",
			}})
			if os.Getenv("MOUNT_TEST_SHOW") != "" {
				t.Log(o.Runs[0].Out)
			}
			check(t, o, 1, "real config\nreal pre-commit\nreal .npmrc")
			if diff := cmp.Diff(before, contents(t, ws, ".git/config", ".git/hooks/pre-commit", "sub/deep/.npmrc")); diff != "" {
				t.Errorf("on the host, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(names, tree(t, ws+"/.git/hooks")); diff != "" {
				t.Errorf("hooks on the host, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff([]string{ws + "/.envrc", ws + "/.git/commondir"}, slices.Sorted(slices.Values(o.Report.Missing))); diff != "" {
				t.Errorf("missing, -want +got:\n%s", diff)
			}
			if o.Report.Unprotected != nil || o.Report.Skipped != nil {
				t.Errorf("report: %+v", o.Report)
			}
		})
	}
}

// contents are names, modes and texts of files.
func contents(t *testing.T, dir string, names ...string) []string {
	t.Helper()
	var all []string
	for _, name := range names {
		info, err := os.Lstat(dir + "/" + name)
		if err != nil {
			t.Error(err)
			continue
		}
		text, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Error(err)
		}
		all = append(all, name, info.Mode().String(), info.ModTime().String(), string(text))
	}
	return all
}

func TestBuildLeavesNothingInTheWorkspace(t *testing.T) {
	t.Parallel()
	ws, r := workspace(t)
	before := tree(t, ws)
	build(t, job{Root: r})
	if diff := cmp.Diff(before, tree(t, ws)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHiddenStaysHidden(t *testing.T) {
	t.Parallel()
	for name, attack := range map[string]string{
		"read":          "cat .env secrets/key; ls secrets; grep -r real secrets",
		"through proc":  "for p in /proc/1/root /proc/self/root /proc/1/cwd /proc/self/cwd; do cat $p$WS/.env $p$WS/secrets/key; done",
		"hard link":     "ln .env e; cat e; ln -L .env e; cat e; ln secrets/key k; cat k",
		"rename":        "mv .env e; cat e; mv secrets s; cat s/key",
		"copy":          "cp -a . /tmp/copy; cat /tmp/copy/.env /tmp/copy/secrets/key",
		"unmount":       "umount .env; umount -l secrets; cat .env secrets/key",
		"new namespace": "mkdir /run/m; cp /proc/1/exe /run/a; ns 'umount .env; umount -l secrets; cat .env secrets/key; mount --bind . /run/m; cat /run/m/.env /run/m/secrets/key; mount --rbind . /run/m; umount /run/m/.env; cat /run/m/.env; false'; MOUNT_TEST_ATTACK=shallow; export MOUNT_TEST_ATTACK; ns '/run/a . /; false'",
		"remove":        "rm -f .env; rm -rf secrets; cat .env secrets/key; chmod 777 .env secrets; echo x > .env; echo x > secrets/x; truncate -s 9 .env",
		"archive":       "tar cf - . | strings | grep -e 'real .env' -e 'real key'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws, r := workspace(t)
			o := build(t, job{Root: r, Env: []string{"WS=" + ws}, Scripts: []string{
				"cd $WS && (" + attack + ") 2>/dev/null",
				"cd $WS && stat -c '%a %s' .env && stat -c %a secrets && ls secrets && echo x > .env",
			}})
			for _, secret := range []string{"real .env", "real key"} {
				if strings.Contains(o.Runs[0].Out, secret) {
					t.Errorf("got %q", o.Runs[0].Out)
				}
			}
			if got := o.Runs[1].Out; !strings.HasPrefix(got, "444 0\n555\n") || o.Runs[1].Code == 0 {
				t.Errorf("hidden files: %q, status %d", got, o.Runs[1].Code)
			}
			if diff := cmp.Diff([]string{"real .env\n", "real key\n"}, []string{contents(t, ws, ".env")[3], contents(t, ws, "secrets/key")[3]}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAGitFileIsProtected(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "main/.git/worktrees/w/gitdir", "main/.git/hooks/", "w/.git", "w/f")
	o := build(t, job{
		Root:    mount.Root{Read: system(t), Write: []string{dir + "/w"}, Protected: []string{dir + "/w/.git"}},
		Scripts: []string{"cd " + dir + "/w; echo x > .git; rm -f .git; mv .git g; mkdir .git; ln -sf /tmp .git; touch new; cat .git"},
	})
	if !strings.HasSuffix(o.Runs[0].Out, "real .git") {
		t.Errorf("got %q", o.Runs[0].Out)
	}
	if got := contents(t, dir+"/w", ".git", "new"); got[3] != "real .git\n" {
		t.Errorf("got %q", got)
	}
}

// A program of an earlier sandbox put a link where a protected path was.
func TestLinksAreNotFollowedOut(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	files(t, dir, "ws/real/hooks/h", "ws/real/config", "out/hooks/h", "out/secret", "ws/f")
	for _, link := range [][2]string{{dir + "/out", ".git"}, {"real", "in"}, {"/usr", "usr"}, {"nowhere", "dangling"}, {dir + "/out/secret", ".env"}, {"real/config", "env2"}} {
		if err := os.Symlink(link[0], dir+"/ws/"+link[1]); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, dir)
	ws := dir + "/ws"
	o := build(t, job{
		Root: mount.Root{
			Read: append(system(t), ws+"/.git/secret"), Write: []string{ws, dir + "/out2", ws + "/usr"},
			Protected: []string{ws + "/.git/hooks", ws + "/in/hooks", ws + "/usr/bin", ws + "/dangling"},
			Hidden:    []string{ws + "/.env", ws + "/env2"},
		},
		Scripts: []string{
			"cd " + ws + "; ls -A .git/; echo x > real/hooks/h; mv real x; cat real/hooks/h real/config; cat .env; ls " + dir,
		},
	})
	if got := o.Runs[0].Out; !strings.Contains(got, "real h\n") || strings.Contains(got, "real secret") || strings.Contains(got, "real config") {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("on the host, -want +got:\n%s", diff)
	}
	var unprotected []string
	for _, p := range o.Report.Unprotected {
		unprotected = append(unprotected, strings.TrimPrefix(p.Path, ws+"/")+": "+p.Why[strings.LastIndex(p.Why, ";")+2:])
	}
	want := []string{".env: it leads nowhere", ".git/hooks: it leads nowhere", "dangling: it leads nowhere", "env2: what it leads to now is covered", "in/hooks: what it leads to now is covered", "usr/bin: it leads out of " + ws}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(unprotected))); diff != "" {
		t.Errorf("unprotected, -want +got:\n%s", diff)
	}
}

func TestWorkspaceOnOtherFileSystems(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs a root who mounts")
	}
	layers := folder(t)
	files(t, layers, "lower/ws/.git/hooks/h", "upper/", "work/")
	for name, args := range map[string][]string{
		"tmpfs":   {"-t", "tmpfs", "none"},
		"overlay": {"-t", "overlay", "none", "-o", "lowerdir=" + layers + "/lower,upperdir=" + layers + "/upper,workdir=" + layers + "/work"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			if out, err := exec.Command("mount", append(args, dir)...).CombinedOutput(); err != nil {
				t.Skipf("%v: %s", err, out)
			}
			defer func() { _ = exec.Command("umount", dir).Run() }()
			ws := dir + "/ws"
			files(t, ws, ".git/config", ".env")
			o := build(t, job{
				Root:    mount.Root{Read: system(t), Write: []string{ws}, Protected: []string{ws + "/.git/config"}, Hidden: []string{ws + "/.env"}},
				Scripts: []string{"cd " + ws + "; mv .git x; echo x > .git/config; echo x > new; cat .git/config .env"},
			})
			if !strings.HasSuffix(o.Runs[0].Out, "real config") {
				t.Errorf("got %q", o.Runs[0].Out)
			}
		})
	}
}

func TestOtherNamesOfAFileAreReported(t *testing.T) {
	t.Parallel()
	ws, r := workspace(t)
	for _, name := range []string{".env", ".git/config"} {
		if err := os.Link(ws+"/"+name, ws+"/src/"+strings.ReplaceAll(name, "/", "")); err != nil {
			t.Fatal(err)
		}
	}
	o := build(t, job{Root: r})
	var got []string
	for _, p := range o.Report.Unprotected {
		got = append(got, p.Path)
	}
	if diff := cmp.Diff([]string{ws + "/.env", ws + "/.git/config"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
