package program

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
)

// ToolName returns the name of the program that a package or an image with a
// version has.
func ToolName(name string) string {
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	switch name {
	case "firebase-tools", "netlify-cli", "aws-cli", "prisma-cli", "railway-cli", "heroku-cli", "azure-cli", "vercel-cli", "redis-tools":
		name, _, _ = strings.Cut(name, "-")
	}
	if name == "azure" {
		return "az"
	}
	return name
}

// Started returns the program that a package manager or an interpreter starts by
// its name, and its arguments.
func Started(name string, rest []string) []string {
	packages := getopt.Wrapper{Values: "pc", Long: " --package --call --from --with --python --spec "}
	switch base := strings.TrimRight(name, "0123456789."); {
	case name == "npx" || name == "bunx" || name == "pnpx" || name == "uvx":
		return packages.Inner(rest)
	case name == "npm" || name == "pnpm" || name == "yarn" || name == "bun" || name == "pipx" || name == "bundle" || name == "composer":
		inner := packages.Inner(rest)
		if len(inner) > 0 && slices.Contains([]string{"exec", "x", "dlx", "run", "run-script"}, inner[0]) {
			return packages.Inner(inner[1:])
		}
		if name == "yarn" || name == "pnpm" {
			return inner
		}
	case base == "python" || base == "pypy":
		for i, a := range rest {
			switch {
			case a == "-m":
				return rest[i+1:]
			case !strings.HasPrefix(a, "-"):
				return rest[i:]
			}
		}
	case base == "php" || base == "ruby" || base == "node":
		if i := slices.IndexFunc(rest, func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 {
			return rest[i:]
		}
	}
	return nil
}

// ConsoleCode reports whether a framework's console gets code as an argument.
func ConsoleCode(name string, rest []string) bool {
	words := getopt.PlainWords(rest)
	if len(words) == 0 {
		return false
	}
	switch name {
	case "manage.py", "django-admin":
		return (words[0] == "shell" || words[0] == "shell_plus") && (getopt.HasShort(rest, "c") || getopt.HasLong(rest, "--command"))
	case "artisan":
		return words[0] == "tinker" && getopt.HasLong(rest, "--execute")
	case "rails":
		return (words[0] == "runner" || words[0] == "r") && len(words) > 1 && !strings.HasSuffix(words[1], ".rb")
	case "mix":
		return words[0] == "run" && (getopt.HasShort(rest, "e") || getopt.HasLong(rest, "--eval"))
	case "wp", "drush":
		return words[0] == "eval" || words[0] == "php-eval" || words[0] == "php:eval" || words[0] == "db" && len(words) > 1 && (words[1] == "reset" || words[1] == "drop")
	}
	return false
}
