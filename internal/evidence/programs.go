package evidence

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"hermes/internal/lazy"
	"hermes/internal/policy/shell"
)

// work is what a command does, as far as its programs and verbs say.
type work int

const (
	checks    work = 1 << iota // tests, builds, linters
	formats                    // source files
	installs                   // packages
	commits                    // to a repository
	pushes                     // to another one, or publishes
	sends                      // something to someone
	deletes                    // files or objects
	writes                     // files, for certain
	schedules                  // something for later
	scripts                    // runs a program of the project
	measures                   // a benchmark
	migrates                   // a database
	serves                     // starts a server
	readsOnly                  // looks only
	hosts                      // more than looks, on another machine
)

// known are words of commands and what they do; a * ends a prefix. A row fits if its words are in the
// command in this order. The first word is the name of the program.
var known = []struct {
	words string
	work  work
}{
	{"go test", checks}, {"go vet", checks}, {"go build", checks}, {"go install", checks | installs}, {"go run", scripts}, {"go generate", writes | scripts}, {"go fmt", formats}, {"gofmt", formats}, {"goimports", formats},
	{"go mod", writes}, {"go get", installs}, {"staticcheck", checks}, {"golangci-lint", checks}, {"gotestsum", checks}, {"go * -bench*", measures}, {"go tool", scripts},
	{"pytest", checks}, {"py.test", checks}, {"python* -m pytest", checks}, {"python* -m unittest", checks}, {"python* -m mypy", checks}, {"python* -m py_compile", checks}, {"python* -m compileall", checks}, {"python* -m pip install", installs}, {"python* manage.py test", checks},
	{"python* manage.py migrate", migrates}, {"tox", checks}, {"nox", checks}, {"ruff format", formats}, {"ruff * --fix", formats | checks}, {"ruff", checks}, {"mypy", checks}, {"pyright", checks}, {"flake8", checks}, {"pylint", checks}, {"black --check", checks},
	{"black", formats}, {"isort", formats}, {"poetry install", installs}, {"poetry add", installs}, {"uv add", installs}, {"uv sync", installs}, {"uv pip", installs}, {"uv run", scripts}, {"poetry run", scripts}, {"coverage", checks},
	{"npm test", checks}, {"npm t", checks}, {"npm run test*", checks}, {"npm run build*", checks}, {"npm run lint*", checks}, {"npm run check*", checks}, {"npm run type*", checks}, {"npm run start*", serves}, {"npm run dev*", serves}, {"npm start", serves},
	{"npm run migrate*", migrates}, {"npm run format*", formats}, {"npm run", scripts}, {"npm i", installs}, {"npm install", installs}, {"npm ci", installs}, {"npm publish", pushes},
	{"yarn test*", checks}, {"yarn build*", checks}, {"yarn lint*", checks}, {"yarn run test*", checks}, {"yarn run build*", checks}, {"yarn add", installs}, {"yarn install", installs}, {"yarn", scripts},
	{"pnpm test*", checks}, {"pnpm build*", checks}, {"pnpm lint*", checks}, {"pnpm run test*", checks}, {"pnpm run build*", checks}, {"pnpm run lint*", checks}, {"pnpm add", installs}, {"pnpm install", installs}, {"pnpm i", installs}, {"pnpm publish", pushes}, {"pnpm", scripts},
	{"bun test", checks}, {"bun run build*", checks}, {"bun add", installs}, {"bun install", installs}, {"bun", scripts}, {"deno test", checks}, {"deno check", checks}, {"deno lint", checks}, {"deno fmt", formats}, {"deno", scripts},
	{"jest", checks}, {"vitest", checks}, {"mocha", checks}, {"playwright test", checks}, {"cypress run", checks}, {"eslint --fix", formats | checks}, {"eslint", checks}, {"tsc", checks}, {"prettier --check", checks}, {"prettier", formats}, {"biome", checks | formats},
	{"cargo test", checks}, {"cargo nextest", checks}, {"cargo check", checks}, {"cargo build", checks}, {"cargo clippy", checks}, {"cargo fmt", formats}, {"cargo bench", measures}, {"cargo add", installs}, {"cargo publish", pushes}, {"cargo run", scripts}, {"rustfmt", formats}, {"rustc", checks},
	{"make", checks | scripts}, {"gmake", checks | scripts}, {"ninja", checks}, {"cmake --build", checks}, {"cmake", checks}, {"ctest", checks}, {"meson test", checks}, {"meson", checks}, {"bazel", checks}, {"just", checks | scripts}, {"task", checks | scripts},
	{"gcc", checks}, {"g++", checks}, {"cc", checks}, {"clang*", checks}, {"javac", checks}, {"mvn", checks}, {"*mvnw", checks}, {"gradle*", checks}, {"dotnet test", checks}, {"dotnet build", checks}, {"dotnet", scripts}, {"swift test", checks}, {"swift build", checks},
	{"xcodebuild", checks}, {"rspec", checks}, {"bundle exec rspec", checks}, {"bundle exec rake", checks}, {"bundle install", installs}, {"rake", checks | scripts}, {"rails test", checks}, {"rails db:migrate", migrates}, {"rubocop", checks}, {"phpunit", checks}, {"php vendor/bin/p*", checks}, {"pest", checks}, {"prove", checks}, {"busted", checks}, {"ginkgo", checks}, {"karma", checks}, {"composer test", checks},
	{"composer install", installs}, {"php artisan test", checks}, {"php artisan migrate", migrates}, {"mix test", checks}, {"mix format", formats}, {"stack test", checks}, {"cabal test", checks}, {"sbt", checks}, {"lein test", checks}, {"zig build", checks}, {"zig test", checks}, {"terraform validate", checks},
	{"terraform plan", checks}, {"terraform apply", writes | scripts}, {"terraform fmt", formats}, {"shellcheck", checks}, {"bash -n", checks}, {"sh -n", checks}, {"hadolint", checks}, {"yamllint", checks}, {"jsonlint", checks}, {"nginx -t", checks}, {"docker build", checks}, {"docker compose build", checks},
	{"docker compose up", serves}, {"docker compose up --build", serves | checks}, {"docker compose down", deletes | serves}, {"docker compose rm", deletes}, {"docker run", scripts | serves}, {"docker push", pushes}, {"docker rm*", deletes}, {"docker * rm", deletes}, {"docker * prune", deletes}, {"kubectl apply", writes | pushes}, {"kubectl delete", deletes}, {"helm upgrade", pushes}, {"helm lint", checks},
	{"alembic upgrade", migrates}, {"prisma migrate", migrates}, {"npx prisma migrate", migrates}, {"flyway", migrates}, {"goose", migrates}, {"npx", scripts | checks}, {"diff", checks}, {"cmp", checks}, {"sha*sum -c*", checks}, {"sha*sum --check", checks}, {"jq", checks}, {"curl", scripts}, {"test", checks},
	{"apt* install", installs}, {"brew install", installs}, {"pip* install", installs}, {"pipx install", installs}, {"pip* list", readsOnly}, {"pip* show", readsOnly}, {"pip* freeze", readsOnly}, {"pip* check", checks}, {"gem install", installs}, {"dnf install", installs}, {"pacman -S*", installs},
	{"git commit", commits}, {"git merge", commits}, {"git cherry-pick", commits}, {"git revert", commits}, {"git rebase", commits}, {"git am", commits}, {"git tag", commits}, {"git push", pushes}, {"git rm", deletes}, {"git mv", writes}, {"git apply", writes}, {"git stash", writes}, {"git stash list", readsOnly}, {"git stash show", readsOnly}, {"git switch", writes}, {"git checkout", writes},
	{"git restore", writes}, {"git reset", writes}, {"git clean", deletes}, {"git branch -d", deletes}, {"git worktree remove", deletes}, {"git pull", commits | writes}, {"git clone", writes}, {"git send-email", sends}, {"hg commit", commits}, {"hg push", pushes}, {"jj commit", commits}, {"jj git push", pushes}, {"svn commit", commits | pushes},
	{"gh pr create", pushes | sends}, {"gh pr merge", commits | pushes}, {"gh pr comment", sends}, {"gh pr review", sends}, {"gh issue create", sends}, {"gh issue comment", sends}, {"gh release create", pushes}, {"gh workflow run", scripts}, {"gh run list", checks}, {"gh run view", checks}, {"gh run watch", checks}, {"gh pr checks", checks}, {"gh * delete", deletes}, {"gh api -f*", sends | writes}, {"gh api --field*", sends | writes}, {"gh api --raw-field*", sends | writes}, {"gh api --input*", sends | writes}, {"gh api -X*", sends | writes}, {"gh api --method*", sends | writes}, {"glab mr create", pushes | sends}, {"twine upload", pushes},
	{"scp", sends | pushes}, {"rsync", sends | pushes | writes}, {"sftp", sends | pushes}, {"aws s3 cp", pushes | sends}, {"aws s3 sync", pushes | sends}, {"aws s3 rm", deletes}, {"gsutil cp", pushes | sends}, {"rclone", pushes | sends}, {"vercel", pushes}, {"netlify deploy", pushes}, {"fly deploy", pushes}, {"flyctl deploy", pushes}, {"firebase deploy", pushes}, {"serverless deploy", pushes}, {"ansible*", writes | scripts},
	{"mail", sends}, {"mailx", sends}, {"sendmail", sends}, {"msmtp", sends}, {"mutt", sends}, {"swaks", sends}, {"himalaya", sends}, {"notify-send", sends}, {"wall", sends}, {"write", sends}, {"telegram-send", sends}, {"ntfy", sends}, {"slack*", sends}, {"hermes send", sends},
	{"curl -X", sends}, {"curl -X*", sends}, {"curl --request", sends}, {"curl -d*", sends}, {"curl --data*", sends}, {"curl --json", sends}, {"curl -F*", sends}, {"curl -T*", sends | pushes}, {"curl --url smtp*", sends}, {"wget --post*", sends}, {"http post", sends}, {"curl -o*", writes}, {"curl -O*", writes}, {"curl --output", writes}, {"wget", writes},
	{"rm", deletes}, {"rmdir", deletes}, {"unlink", deletes}, {"shred", deletes}, {"trash*", deletes}, {"rimraf", deletes}, {"find * -delete", deletes}, {"find * rm", deletes}, {"del", deletes}, {"remove-item", deletes}, {"dropdb", deletes}, {"userdel", deletes}, {"apt* remove", deletes}, {"apt* purge", deletes},
	{"npm uninstall", deletes}, {"pip* uninstall", deletes}, {"brew uninstall", deletes}, {"go clean", deletes}, {"cargo clean", deletes}, {"make clean", deletes}, {"systemctl disable", deletes}, {"crontab -r", deletes},
	{"tee", writes}, {"cp", writes}, {"mv", writes | deletes}, {"install", writes}, {"ln", writes}, {"touch", writes}, {"mkdir", writes}, {"sed -i*", writes}, {"sed --in-place*", writes}, {"perl -*i*", writes}, {"ed", writes}, {"ex", writes}, {"patch", writes}, {"dd", writes}, {"truncate", writes}, {"chmod", writes}, {"chown", writes},
	{"tar", writes | scripts}, {"zip", writes}, {"unzip", writes | scripts}, {"gzip", writes}, {"pandoc", writes}, {"convert", writes}, {"magick", writes}, {"ffmpeg", writes}, {"pg_dump", writes}, {"mysqldump", writes}, {"sqlite3", writes | scripts}, {"psql", writes | scripts}, {"mysql", writes | scripts},
	{"crontab -l", readsOnly}, {"crontab", schedules}, {"at", schedules}, {"batch", schedules}, {"systemd-run", schedules}, {"systemctl * enable", schedules}, {"systemctl enable", schedules}, {"systemctl * start", serves | schedules}, {"systemctl start", serves}, {"systemctl restart", serves}, {"launchctl", schedules}, {"schtasks", schedules}, {"gcalcli add", schedules}, {"remind", schedules},
	{"hermes cron", schedules}, {"ab", measures}, {"hyperfine", measures}, {"wrk", measures}, {"k6", measures}, {"time", measures}, {"uvicorn", serves}, {"gunicorn", serves}, {"flask run", serves}, {"nginx", serves}, {"python* -m http.server", serves}, {"python*", scripts}, {"node", scripts}, {"ruby", scripts}, {"perl", scripts}, {"php", scripts},
	{"bash", scripts}, {"sh", scripts}, {"zsh", scripts}, {"java", scripts}, {"ls", readsOnly}, {"cat", readsOnly}, {"grep", readsOnly}, {"rg", readsOnly}, {"head", readsOnly}, {"tail", readsOnly}, {"wc", readsOnly}, {"find", readsOnly}, {"stat", readsOnly}, {"pwd", readsOnly}, {"echo", readsOnly}, {"printf", readsOnly},
	{"docker ps", readsOnly}, {"docker images", readsOnly}, {"docker logs", readsOnly}, {"docker inspect", readsOnly}, {"kubectl get", readsOnly}, {"kubectl describe", readsOnly}, {"kubectl logs", readsOnly}, {"systemctl status", readsOnly}, {"systemctl is-active", readsOnly}, {"journalctl", readsOnly},
	{"which", readsOnly}, {"env", readsOnly}, {"date", readsOnly}, {"whoami", readsOnly}, {"ps", readsOnly}, {"df", readsOnly}, {"du", readsOnly}, {"tree", readsOnly}, {"file", readsOnly}, {"cd", readsOnly}, {"git", readsOnly}, {"sleep", readsOnly}, {"sort", readsOnly}, {"uniq", readsOnly}, {"less", readsOnly}, {"awk", readsOnly}, {"sed", readsOnly}, {"gh", readsOnly},
}

// knownRow is a row of known, cut into words.
type knownRow struct {
	words []string
	work  work
}

var table = sync.OnceValue(func() []knownRow {
	rows := make([]knownRow, len(known))
	for i, k := range known {
		rows[i] = knownRow{strings.Fields(k.words), k.work}
	}
	return rows
})

// does returns what one simple command does. What is not in the table and is a program of the
// project, or an unknown one, is a script; by its name it may be a check.
func does(words []string) work {
	if len(words) == 0 {
		return 0
	}
	name := strings.ToLower(path.Base(words[0]))
	if far := onHost(words); len(far) > 0 {
		if w := doesLine(strings.Join(far, " ")); w != readsOnly {
			return w | hosts
		}
		return readsOnly
	}
	switch {
	case name == "git":
		words = withoutGlobals(words)
	case len(words) > 2 && words[1] == "-m" && strings.HasPrefix(name, "python") && strings.HasPrefix(words[2], "pip"):
		return does(words[2:])
	}
	if inner := started(words); len(inner) > 0 {
		if w := does(inner); w&scripts == 0 {
			return w
		}
	}
	found, longest := work(0), 0
	for _, r := range table() {
		if len(r.words) >= longest && wordFits(r.words[0], name) && inOrder(r.words[1:], words[1:]) && (name != "git" || len(r.words) < 2 || len(words) > 1 && words[1] == r.words[1]) {
			if len(r.words) > longest {
				found = 0
			}
			found, longest = found|r.work, len(r.words)
		}
	}
	if looks(name, words[1:]) {
		return readsOnly
	}
	found &^= notDone(name, words[1:])
	if name == "curl" && ownServer().MatchString(strings.Join(words[1:], " ")) {
		found |= checks
	}
	if slices.Contains(words[1:], "--dry-run") || slices.Contains(words[1:], "-n") && found&pushes != 0 {
		found &^= pushes | sends | commits | deletes | writes
	}
	if found&checks != 0 && slices.ContainsFunc(words[1:], outputs().MatchString) {
		found |= writes
	}
	if longest == 0 || found == scripts {
		found |= scripts
		line := strings.ToLower(strings.Join(words[:min(len(words), 3)], " "))
		if checking().MatchString(line) {
			found |= checks
		}
		if publishing().MatchString(line) {
			found |= pushes
		}
		if sending().MatchString(line) {
			found |= sends
		}
	}
	return found
}

// withoutGlobals returns a command of git without the options before its verb.
func withoutGlobals(words []string) []string {
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-C" || w == "-c" || w == "--git-dir" || w == "--work-tree":
			i++ // and its value
		case !strings.HasPrefix(w, "-"):
			return append([]string{"git"}, words[i:]...)
		}
	}
	return words[:1]
}

// notDone returns what a row of the table says of a program, but not with these options.
func notDone(name string, options []string) work {
	has := func(any ...string) bool {
		return slices.ContainsFunc(options, func(w string) bool { return slices.Contains(any, w) })
	}
	at := func(pattern func() *regexp.Regexp) bool { return slices.ContainsFunc(options, pattern().MatchString) }
	switch {
	case name == "git" && (has("--abort", "--quit", "--show-current-patch") || len(options) > 0 && options[0] == "tag" && (len(options) == 1 || has("-l", "--list", "-n", "-d", "--delete", "-v"))):
		return commits
	case name == "curl" && at(asksOnly):
		return sends
	case (name == "rsync" || name == "scp" || name == "rclone") && !at(elsewhere):
		return sends | pushes
	case name == "systemctl" && has("start") && !at(timerUnit):
		return schedules
	}
	return 0
}

var (
	// outputs are options by which a check writes files.
	outputs   = lazy.Regexp(`^-(?:o\b.*|u)$|^--?(?:update|snapshot-update|coverprofile|cov-report|out(?:put|file|dir)?|junitxml|fix|write)`)
	asksOnly  = lazy.Regexp(`^(?:-X|--request=)?(?:GET|HEAD|OPTIONS)$`)
	elsewhere = lazy.Regexp(`^[^/-][^/]*:|^rsync://|\x00`)
	timerUnit = lazy.Regexp(`\.timer$|\x00`)
)

// looks reports whether options say that a program only lists, or says what it would do.
func looks(name string, options []string) bool {
	return slices.ContainsFunc(options, func(w string) bool {
		switch w {
		case "--version", "--help", "--collect-only", "--co", "--list", "--list-tests", "--no-run", "--just-print":
			return true
		case "-n", "--dry-run":
			return name == "make" || name == "gmake" || name == "just"
		}
		return false
	})
}

// ownServer is in requests that ask a server whether it works.
var ownServer = lazy.Regexp(`(?i)\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|health\w*|readyz?|livez|ping|status)\b|\[::1\]`)

// started returns the command that a program such as npx starts, if it is one.
func started(words []string) []string {
	for _, by := range [][]string{{"npx"}, {"bunx"}, {"uv", "run"}, {"poetry", "run"}, {"pipenv", "run"}, {"bundle", "exec"}, {"pnpm", "exec"}, {"yarn", "exec"}} {
		if len(words) <= len(by) || !slices.Equal(words[:len(by)], by) {
			continue
		}
		inner := words[len(by):]
		for len(inner) > 0 && (inner[0] == "-y" || inner[0] == "--yes" || inner[0] == "--") {
			inner = inner[1:]
		}
		if len(inner) > 0 && !strings.HasPrefix(inner[0], "-") {
			return inner
		}
	}
	return nil
}

// onHost returns the command that ssh runs elsewhere, if it says one.
func onHost(words []string) []string {
	if words[0] != "ssh" {
		return nil
	}
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case len(w) == 2 && strings.Contains("bcDEeFIiJLlmOopQRSWw", w[1:]) && w[0] == '-':
			i++ // and its value
		case !strings.HasPrefix(w, "-"):
			return words[i+1:]
		}
	}
	return nil
}

// sending is in the names of programs that send.
var sending = lazy.Regexp(`(?:^|[^a-z])(?:send(?:message|mail)?|mail|e-?mail|notify|notification|newsletter|sms|smtp)(?:[^a-z]|$)`)

var publishing = lazy.Regexp(`deploy|publish|release|upload`)

var checking = lazy.Regexp(`test|check|lint|build|verif|valid|compile|\bci\b|spec`)

func wordFits(pattern, word string) bool {
	word = strings.ToLower(word)
	switch {
	case pattern == "*":
		return true
	case strings.HasPrefix(pattern, "*"):
		return strings.HasSuffix(word, pattern[1:])
	case strings.HasSuffix(pattern, "*"):
		return strings.HasPrefix(word, strings.ToLower(strings.TrimSuffix(pattern, "*")))
	}
	return word == strings.ToLower(pattern)
}

func inOrder(pattern, words []string) bool {
	for _, p := range pattern {
		if p == "*" {
			continue
		}
		i := slices.IndexFunc(words, func(w string) bool { return wordFits(p, w) })
		if i < 0 {
			return false
		}
		words = words[i+1:]
	}
	return true
}

// redirects finds that a command line writes a file.
var redirects = lazy.Regexp(`(?:^|[^<>&=-])>{1,2}\s*[^\s>&|;]`)

// doesLine returns what all commands of a line do.
func doesLine(line string) work {
	all, lookOnly := work(0), true
	var module []string // of Python, one that only looks
	complete := shell.Commands(line, func(words []string) bool {
		w := does(words)
		switch {
		case len(words) > 2 && words[1] == "-m" && w == readsOnly:
			module = words
		case len(words) < len(module) && slices.Equal(words, module[len(module)-len(words):]):
			return true // its own words
		}
		lookOnly = lookOnly && w == readsOnly
		all |= w &^ readsOnly
		return true
	})
	if redirects().MatchString(line) {
		all |= writes
		lookOnly = false
	}
	if lookOnly && complete {
		return readsOnly
	}
	if !complete {
		all |= scripts // it may do more
	}
	return all
}
