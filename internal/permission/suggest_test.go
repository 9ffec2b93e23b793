package permission_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/permission"
)

func TestRulesAreSuggestedForWhatIsAllowedAgainAndAgain(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	yes := func(line, risk string, n int) permission.Answered {
		return permission.Answered{Tool: "terminal", Subject: line, Risk: risk, Allowed: true, Count: n, Last: at}
	}
	no := func(line, risk string) permission.Answered {
		return permission.Answered{Tool: "terminal", Subject: line, Risk: risk, Count: 1, Last: at}
	}
	for name, c := range map[string]struct {
		answers []permission.Answered
		want    string // the rules, joined
	}{
		"often enough":                  {[]permission.Answered{yes("docker stop web", "docker-lifecycle", 2)}, "terminal: docker stop web"},
		"too seldom":                    {[]permission.Answered{yes("docker stop web", "docker-lifecycle", 1)}, ""},
		"refused once":                  {[]permission.Answered{yes("docker stop web", "docker-lifecycle", 5), no("docker stop web", "docker-lifecycle")}, ""},
		"several of one verb":           {[]permission.Answered{yes("docker stop web", "docker-lifecycle", 2), yes("docker stop db", "docker-lifecycle", 3)}, "terminal: docker stop db; terminal: docker stop web"},
		"each of them once":             {[]permission.Answered{yes("docker compose stop web", "docker-lifecycle", 1), yes("docker compose restart web", "docker-lifecycle", 1)}, ""},
		"other addresses":               {[]permission.Answered{yes("git remote set-url origin https://github.com/me/a", "git-remote", 1), yes("git remote set-url origin https://github.com/me/b", "git-remote", 2)}, "terminal: git remote set-url origin https://github.com/me/b"},
		"several tests":                 {[]permission.Answered{yes("npm test --registry https://a.example a", "package-source", 2), yes("npm test --registry https://a.example b", "package-source", 2)}, "terminal: npm test --registry https://a.example a; terminal: npm test --registry https://a.example b"},
		"two spellings":                 {[]permission.Answered{yes("docker stop web", "docker-lifecycle", 1), yes("docker  stop 'web'", "docker-lifecycle", 1)}, "terminal: docker stop web"},
		"refused in another spelling":   {[]permission.Answered{yes("docker stop web", "docker-lifecycle", 2), no("docker stop 'web'", "docker-lifecycle")}, ""},
		"deletes a volume":              {[]permission.Answered{yes("docker volume rm data", "docker-lifecycle", 9)}, ""},
		"deletes what is not used":      {[]permission.Answered{yes("docker system prune -af", "docker-lifecycle", 9)}, ""},
		"deletes a service":             {[]permission.Answered{yes("pm2 delete web", "service-stop", 9)}, ""},
		"a pattern of files":            {[]permission.Answered{yes("docker stop 'w*'", "docker-lifecycle", 9)}, "terminal: docker stop 'w*'"},
		"deletes":                       {[]permission.Answered{yes("rm -rf build", "recursive-delete", 9)}, ""},
		"one of two risks is not":       {[]permission.Answered{yes("docker stop web", "docker-lifecycle", 3), yes("docker stop web", "sudo-password", 3)}, ""},
		"a risk that is not known":      {[]permission.Answered{yes("docker stop web", "new-risk", 9)}, ""},
		"forces a push":                 {[]permission.Answered{yes("git push --force", "git-push-force", 9)}, ""},
		"several commands":              {[]permission.Answered{yes("docker stop web && docker stop db", "docker-lifecycle", 9)}, ""},
		"a variable":                    {[]permission.Answered{yes("docker stop $X", "docker-lifecycle", 9)}, ""},
		"a secret":                      {[]permission.Answered{yes("docker stop sk-...ABCD", "docker-lifecycle", 9)}, ""},
		"dots that hide nothing":        {[]permission.Answered{yes("make -C ./...", "option-exec", 2)}, "terminal: make -C ./..."},
		"cut":                           {[]permission.Answered{yes("docker stop "+strings.Repeat("x", 500), "docker-lifecycle", 9)}, ""},
		"another tool":                  {[]permission.Answered{{Tool: "write_file", Subject: "x", Risk: "docker-lifecycle", Allowed: true, Count: 9}}, ""},
		"a word that may be a command":  {[]permission.Answered{yes("docker stop 'a b' c", "docker-lifecycle", 2)}, ""},
		"the verb alone":                {[]permission.Answered{yes("docker stop", "docker-lifecycle", 2)}, "terminal: docker stop"},
		"an option before what differs": {[]permission.Answered{yes("make -C a", "option-exec", 2), yes("make -C b", "option-exec", 2)}, "terminal: make -C a; terminal: make -C b"},
		"any arguments are not meant":   {[]permission.Answered{yes("tar x --to-command=a", "option-exec", 2), yes("tar x --to-command=b", "option-exec", 2)}, "terminal: tar x '--to-command=a'; terminal: tar x '--to-command=b'"},
	} {
		var rules []string
		for _, s := range permission.Suggest(c.answers, 2) {
			rules = append(rules, s.Rule)
		}
		if got := strings.Join(rules, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRulesAreAddedBesideWhatIsThere(t *testing.T) {
	t.Parallel()
	const src = "# mine\nrules:\n- {deny: 'terminal: git push --force*', reason: never} # really\n\ngrants: []\n"
	path := filepath.Join(t.TempDir(), permission.Name)
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	f := permission.New(path, nil, nil)
	if err := f.AddRules(t.Context(), "terminal: docker stop *", "terminal: make x"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(got)
	for _, line := range strings.Split(strings.TrimSpace(src), "\n") {
		if !strings.Contains(text, line) {
			t.Errorf("%q is lost: %s", line, text)
		}
	}
	if p := f.Policy(""); len(p.Entries) != 3 || len(p.Problems) > 0 {
		t.Errorf("%+v", p)
	}
	if err := f.AddRules(t.Context(), "terminal: a && b"); err == nil {
		t.Error("a rule that cannot be read was added")
	}
	if err := os.WriteFile(path, []byte("rules: [{dney: x}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.AddRules(t.Context(), "terminal: make y"); err == nil {
		t.Error("a file that is not clear was changed")
	}
	for _, src := range []string{"rules: {browser.*: deny}\n", "rules: [{deny: 'terminal: x'}]\n", "rules:\n"} { // the other forms of the list
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		added := f.AddRules(t.Context(), "terminal: make y") == nil
		now, err := os.ReadFile(path)
		if err != nil || added != strings.Contains(string(now), "make y") || !added && string(now) != src {
			t.Errorf("%q: added %v, now %q, %v", src, added, now, err)
		}
	}
	empty := permission.New(filepath.Join(t.TempDir(), permission.Name), nil, nil)
	if err := empty.AddRules(t.Context(), "terminal: make y"); err != nil {
		t.Error(err)
	}
}
