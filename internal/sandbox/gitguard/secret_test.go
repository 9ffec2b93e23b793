package gitguard_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/sandbox/gitguard"
)

// TestFilesWithSecretsAreFound by their names, or by their text if most projects have them
// without.
func TestFilesWithSecretsAreFound(t *testing.T) {
	t.Parallel()
	const key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n-----END PRIVATE KEY-----\n"
	for way, take := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir := mustFolder(t)
			for name, text := range map[string]string{
				".env": "", "a/.env.local": "", "a/.env.example": "", "b/.envrc": "use flake\n", ".envrc": "export AWS_SECRET_ACCESS_KEY=abcd1234efgh5678\n",
				"tf/x.tfstate": "{}", "tf/main.tf": "", "id_ed25519": "", "testdata/id_rsa": key, "ssl/server.key": key, "ssl/server.pem": "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n",
				"chart/templates/secrets.yaml": "password: {{ .Values.password }}\n", "chart/secrets.yaml": "password: hunter22x\n", ".npmrc": "//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n",
				"web/.npmrc": "//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123456789\n", ".devcontainer/.env": "", ".devcontainer/x/.env": "", "credentials.json": "{}",
				"src/credentials.json/x": "", "app/keystore.jks": "", ".netrc": "",
			} {
				write(t, filepath.Join(dir, name), text)
			}
			want := []string{
				".devcontainer/.env", ".devcontainer/x/.env", ".env", ".envrc", ".netrc", "a/.env.local", "chart/secrets.yaml", "credentials.json", "id_ed25519", "ssl/server.key", "tf/x.tfstate", "web/.npmrc",
			}
			if diff := cmp.Diff(want, take(t, dir).Found.Env); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWhatWasFoundOnceStaysFound, also where a later look would not find it.
func TestWhatWasFoundOnceStaysFound(t *testing.T) {
	t.Parallel()
	for way, take := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir := mustFolder(t)
			write(t, dir+"/sub/.env", "x")
			write(t, dir+"/sub/.env.gone", "x")
			before := take(t, dir)
			must(t, os.Remove(dir+"/sub/.env.gone"))
			must(t, os.Rename(dir+"/sub", dir+"/node_modules"))
			must(t, os.Symlink("node_modules", dir+"/sub"))
			if diff := cmp.Diff([]string{"sub/.env"}, mustAgain(t, before).Found.Env); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAFolderThatCannotBeReadIsClosed: it may hold anything.
func TestAFolderThatCannotBeReadIsClosed(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Skip("this user reads everything")
	}
	for way, take := range ways {
		for _, mode := range []os.FileMode{0, 0o300, 0o400} {
			t.Run(way+" "+mode.String(), func(t *testing.T) {
				dir := mustFolder(t)
				write(t, dir+"/a/sub/x/y", "")
				must(t, os.Chmod(dir+"/a/sub", mode))
				defer os.Chmod(dir+"/a/sub", 0o700)
				got := take(t, dir).Found.Closed
				if len(got) == 0 || got[0] != "a/sub" {
					t.Errorf("closed: %q", got)
				}
			})
		}
	}
}

// TestSettingsOfAToolAreTakenAsTheyAre: what has the name of its folder and is none is what
// the tool follows.
func TestSettingsOfAToolAreTakenAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(dir string) error{
		"link": func(dir string) error { return os.Symlink("x", dir+"/.cargo") },
		"pipe": func(dir string) error { return mkfifo(dir + "/.cargo") },
		"file": func(dir string) error { return os.WriteFile(dir+"/.cargo", nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := mustFolder(t)
			write(t, dir+"/x/config.toml", "evil")
			before := mustTake(t, dir)
			if err := make(dir); err != nil {
				t.Skip(err)
			}
			now := mustAgain(t, before)
			c, ok := changeOf(now.Compare(before), dir+"/.cargo")
			if !ok {
				t.Fatalf("%v", now.Found.Tools)
			}
			must(t, gitguard.Restore(c))
			if _, err := os.Lstat(dir + "/.cargo"); err == nil {
				t.Error("it is left")
			}
		})
	}
}
