package shell

import (
	"slices"
	"strings"
)

// services outside: the rules for tools that a package manager or a language may
// start, so that `npx prisma migrate reset` is judged as `prisma migrate reset`.
func (j *judge) tools(name string, rest []string, s situation) {
	j.cloud(name, rest)
	j.remoteRun(name, rest)
	j.cluster(name, rest)
	j.publishes(name, rest)
	j.databases(name, rest, s.in)
	if inner := started(name, rest); len(inner) > 0 && j.depth < maxDepth {
		j.depth++
		j.tools(program(inner[0]), inner[1:], s)
		j.depth--
	}
}

// started returns the program that a package manager or an interpreter starts by
// its name, and its arguments.
func started(name string, rest []string) []string {
	packages := wrapper{values: "pc", long: " --package --call --from --with --python --spec "}
	switch base := strings.TrimRight(name, "0123456789."); {
	case name == "npx" || name == "bunx" || name == "pnpx" || name == "uvx":
		return packages.inner(rest)
	case name == "npm" || name == "pnpm" || name == "yarn" || name == "bun" || name == "pipx" || name == "bundle" || name == "composer":
		inner := packages.inner(rest)
		if len(inner) > 0 && slices.Contains([]string{"exec", "x", "dlx", "run", "run-script"}, inner[0]) {
			return packages.inner(inner[1:])
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
