package evidence

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"hermes/internal/lazy"
	"hermes/internal/policy/shell"
)

// part is what a command is for a claim that something passed.
type part int

const (
	noPart  part = iota
	helps        // supports the claim if nothing of its kind ran, and does not speak against it
	decides      // the last of these does
)

// kindOfCheck is a row of kindsOfCheck: words of claims, the commands that they are about, and those that do as well.
type kindOfCheck struct{ claim, command, instead func() *regexp.Regexp }

var (
	ofTests   = lazy.Regexp(`(?i)test|spec|jest|mocha|cypress|playwright|tox|nox|\bcov|rake|gradle|mvn|\bpest\b|phpunit|\bprove\b|busted|ginkgo|karma|\bt/|\.t\b`)
	ofLinters = lazy.Regexp(`(?i)lint|clippy|vet|mypy|ruff|eslint|flake8|pyright|tsc|staticcheck|rubocop|check|biome`)
	never     = lazy.Regexp(`[^\s\S]`)
)

// kindsOfCheck are words of claims and of the commands that they may be about. A build does not fail with a test.
var kindsOfCheck = []kindOfCheck{
	{lazy.Regexp(`(?i)\btests?\b|\bsuite|\bspecs?\b`), ofTests, never},
	{lazy.Regexp(`(?i)\blint|clippy|\bvet\b|mypy|ruff|eslint|type ?check`), ofLinters, never},
	{lazy.Regexp(`(?i)\bbuil[dt]s?\b|\bcompil`), lazy.Regexp(`(?i)build|compil|^(?:go|cargo) (?:vet|install|run|check|clippy)|tsc|gcc|g\+\+|\bcc\b|clang|javac|rustc|mvn|gradle|package|bundle|assemble|docker|latex|typst|mkdocs|sphinx|cmake|meson`), lazy.Regexp(``)},
}

var (
	// anyCheck are commands whose names do not say what they check.
	anyCheck = lazy.Regexp(`(?i)\b(?:make|gmake|just|task|ninja|bazel|ci|check|verify|all|sbt|go run)\b|(?:^|\s)\./\w|\.sh\b`)
	// otherTarget is a target of make that checks nothing.
	otherTarget = lazy.Regexp(`(?i)^(?:g?make|just|task) (?:un)?(?:install|clean|distclean|dist|run|serve|deploy|docs?|fmt|format|release|publish|push|help)\b`)
	// unchecked are options that leave the tests out.
	unchecked = lazy.Regexp(`(?i)skiptests|maven\.test\.skip|-x test\b|--no-tests`)
	// twoWords are programs whose work is said by their first words; what follows are names.
	twoWords = []string{"go", "cargo", "gcc", "g++", "cc", "javac", "rustc", "tsc", "eslint", "ruff", "mypy", "black", "swift", "dotnet", "terraform"}
	// questions are programs that answer a question of their own: no is no failure of the work.
	questions = []string{"test", "[", "[[", "diff", "cmp", "jq", "curl", "gh"}
	// testsInCode are how programs in a command line run tests.
	testsInCode = lazy.Regexp(`\b(?:unittest|pytest|doctest|jest|mocha)\b|\bPkg\.test|::test|\brun_?tests?\b`)
	// counts is what programs print that have run tests.
	counts = lazy.Regexp(`(?im)\b\d+ (?:tests?|specs?|examples?|assertions|passed|passing|successes)\b|\b(?:passed|passing|success(?:es)?):? *\d|\ball tests (?:passed|successful)|^ok \d|^(?:tests?|test summary):`)
)

// tested reports whether tests are only instead of this kind.
func (k *kindOfCheck) tested() bool { return k.instead().MatchString("") }

// kindsIn returns the kinds of checks that a claim is about: those of a list, as in "the linter and the tests", or else one, or nil for any.
func kindsIn(c Claim) []*kindOfCheck {
	var kinds []*kindOfCheck
	var at [][]int
	for i, k := range kindsOfCheck {
		if m := k.claim().FindStringIndex(c.Quote); m != nil {
			kinds, at = append(kinds, &kindsOfCheck[i]), append(at, m)
		}
	}
	for i := range kinds {
		for j := range kinds {
			if at[i][1] <= at[j][0] && joinsChecks().MatchString(c.Quote[at[i][1]:at[j][0]]) {
				return []*kindOfCheck{kinds[i], kinds[j]}
			}
		}
	}
	for i, k := range kindsOfCheck {
		if k.claim().MatchString(c.Quote + " " + c.About) {
			return []*kindOfCheck{&kindsOfCheck[i]}
		}
	}
	return []*kindOfCheck{nil}
}

// joinsChecks is between two kinds of checks of a list.
var joinsChecks = lazy.Regexp(`(?i)^(?:ing|er|ers)?(?:,|,? and|,? und|,? et|,? y| &| \+) (?:the |die |all |alle |unit |integration )*$`)

// checked reports what a call is for a claim about a kind of check. own also counts programs of the project as checks.
func (d Done) checked(kind *kindOfCheck, own bool) part {
	if d.Tool != commandTool && d.Tool != "process" {
		if d.named([]string{"test", "check", "lint", "build", "verify", "validate", "diagnos"}) {
			return decides
		}
		return noPart
	}
	best, all := noPart, work(0)
	shell.Commands(d.Subject, func(words []string) bool {
		w := does(words)
		all |= w &^ readsOnly
		name, line := strings.ToLower(path.Base(words[0])), strings.Join(words, " ")
		if slices.Contains(twoWords, name) {
			line = strings.Join(words[:min(len(words), 2)], " ")
		}
		switch {
		case w&checks == 0:
			if own && w&scripts != 0 {
				best = decides
			}
		case slices.Contains(questions, name):
			if kind == nil {
				best = max(best, helps)
			}
		case kind == nil:
			best = decides
		case unchecked().MatchString(strings.Join(words, " ")):
		case kind.command().MatchString(line), anyCheck().MatchString(line) && !otherTarget().MatchString(line) && !(kind.tested() && ofTests().MatchString(line)):
			best = decides
		case kind.instead().MatchString(line):
			best = max(best, helps) // as a build
		}
		return true
	})
	if best == noPart && all&scripts != 0 && (kind == nil || kind.command().MatchString("test")) && (testsInCode().MatchString(d.Subject) || counts().MatchString(d.output())) {
		return decides
	}
	return best
}

// passed looks at the last check of each kind that a claim is about.
func (t Turn) passed(done []Done, c Claim, words []string) string {
	for _, kind := range kindsIn(c) {
		if why := t.passedOf(kind, done, c, words); why != "" {
			return why
		}
	}
	return ""
}

// passedOf looks at the last check of a kind.
func (t Turn) passedOf(kind *kindOfCheck, done []Done, c Claim, words []string) string {
	why := "no test, build or check was run"
	own := !slices.ContainsFunc(kindsOfRun, func(k kindOfRun) bool {
		return k.words[0] != "script" && slices.ContainsFunc(k.words, func(w string) bool { return strings.Contains(strings.ToLower(c.Quote), w) })
	}) && !slices.ContainsFunc(kindsOfCheck, func(k kindOfCheck) bool { return k.claim().MatchString(c.Quote) })
	told := t.admits(c)
	for _, level := range []part{decides, helps} {
		for i, d := range slices.Backward(done) {
			is := d.checked(kind, own)
			if is == noPart && d.Tool == commandTool && d.OK && (d.does()&(scripts|measures|migrates|formats) != 0 && (about(d, words) || d.does()&measures != 0) || d.runs(programs(c.Quote))) {
				is = decides
			}
			if is != level {
				continue
			}
			if d.Open {
				why = "the check was only started"
				continue
			}
			not := d.failed()
			switch {
			case not == "" && d.testedNothing():
				why = "the last check ran no tests"
				continue
			case not != "" && !told:
				if level == helps {
					continue
				}
				return not
			case d.does()&checks != 0 && t.changedAfter(done[i+1:], d):
				if ofTests().MatchString(d.Subject) {
					return "files were changed after the last test"
				}
				return "files were changed after the last check"
			}
			return ""
		}
	}
	return why
}

// runs reports whether a call ran one of the commands that an ending marks as code.
func (d Done) runs(commands []string) bool {
	return slices.ContainsFunc(commands, func(p string) bool { return strings.Contains(p, " ") && strings.HasPrefix(d.Subject, p) })
}

// failed says why a check did not pass, "" if it did. The status of a command counts, and what it printed where the status may be that of another one.
func (d Done) failed() string {
	switch out := d.output(); {
	case !d.OK:
		return "the last check failed"
	case d.hidden() && (failing().MatchString(out) || d.countsFailures(out)):
		return "the output of the last check has failures"
	}
	return ""
}

var (
	// failing finds in the output of a check that something failed.
	failing = lazy.Regexp(`(?m)^(?:--- )?FAIL\b|\bFAILED\b(?: \(|$|:| \|)|^FAILED\b|\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?|fail)\b|(?:Failures|Failed|Errors): *[1-9]|^# fail [1-9]|^npm ERR!|^Traceback \(most recent|^error(?:\[E\d+\])?: |` +
		`\bBUILD (?:FAILED|FAILURE)\b|^FAILURES!|[Tt]ests failed\b|^not ok \d|: error: |\berror [A-Z]{1,4}\d+|^\S+\.go:\d+:\d+: |^make: \*\*\*`)
	// chained is in lines whose status need not be that of each command.
	chained  = lazy.Regexp(`[|;\n]|&\s*$|(?:^|[^&])&[^&>\d]`)
	inQuotes = lazy.Regexp(`'[^']*'|"[^"]*"|\d?>&\d?|&>`)
	// shells run what is quoted.
	shells = lazy.Regexp(`\b(?:ba|z|da|fi)?sh\b|\bssh\b|\beval\b`)
	// counted are commands that print how often something failed, or the status.
	countsFailed = lazy.Regexp(`(?i)grep\s+(?:-\S+\s+)*-\w*c\w*\s.*(?:fail|error)`)
	printsStatus = lazy.Regexp(`\$\?|PIPESTATUS`)
	lastNumber   = lazy.Regexp(`(?:^|\n)[A-Za-z_ :=\["'-]*[1-9]\d*\W*$`)
	// noTests is printed by what found no tests.
	noTests = lazy.Regexp(`(?i)no tests to run|no tests ran|no tests? (?:were )?found|\bran 0 tests|collected 0 items|^0 passing`)
	// didTest is in the other lines of what has found some.
	didTest = lazy.Regexp(`(?m)^ok\b|\b[1-9]\d* (?:passed|passing|tests?)\b`)
)

// hidden reports whether the status of a line may be that of another command than the check.
func (d Done) hidden() bool {
	line := d.Subject
	if d.Tool != commandTool && d.Tool != "process" {
		return true
	}
	if !shells().MatchString(line) {
		line = inQuotes().ReplaceAllString(line, "")
	}
	if !chained().MatchString(line) {
		return false
	}
	at := strings.LastIndexAny(line, ";\n&|") // what comes last has the status
	return at < 0 || strings.ContainsAny(line[at:], "|") || strings.HasSuffix(strings.TrimSpace(line), "&") || strings.Contains(line, "|") || doesLine(line[:at+1])&checks != 0 || doesLine(line[at+1:])&checks == 0
}

// countsFailures reports whether a line prints how often something failed, and that is not zero.
func (d Done) countsFailures(out string) bool {
	return (countsFailed().MatchString(d.Subject) || printsStatus().MatchString(d.Subject)) && lastNumber().MatchString(strings.TrimSpace(out))
}

// testedNothing reports whether a check says that there was nothing to test.
func (d Done) testedNothing() bool {
	out := d.output()
	if !noTests().MatchString(out) {
		return false
	}
	var rest strings.Builder
	for line := range strings.Lines(out) {
		if !noTests().MatchString(line) {
			rest.WriteString(line)
		}
	}
	return !didTest().MatchString(rest.String())
}

// output is the text that a command printed; results of the terminal are JSON.
func (d Done) output() string {
	var in struct{ Output *string }
	if strings.HasPrefix(d.Result, "{") && json.Unmarshal([]byte(d.Result), &in) == nil && in.Output != nil {
		return *in.Output
	}
	return strings.ReplaceAll(strings.TrimPrefix(d.Result, `{"output":"`), `\n`, "\n")
}

var (
	// fails says that something still does, or not all of it.
	fails = lazy.Regexp(`(?i)\b(?:fails?|still failing|complains|except|apart from|but not|schlägt|schlagen|scheitern|scheitert|außer|bis auf|échoue(?:nt)?|sauf|fall[ae]n?|excepto|falham?|exceto|tranne)\b|失败|失敗|실패`)
	// fraction is how many of all.
	fraction = lazy.Regexp(`(\d+) ?(?:/|of|out of|von|sur|de|di|из) ?(?:the )?(\d+)`)
)

// admits reports whether the sentence of a claim says that a part failed.
func (t Turn) admits(c Claim) bool {
	text := c.around
	if text == "" {
		text = strings.ToLower(c.Quote)
	}
	if fails().MatchString(deniedFailure().ReplaceAllString(text, "")) {
		return true
	}
	m := fraction().FindStringSubmatch(text)
	return m != nil && (len(m[1]) < len(m[2]) || len(m[1]) == len(m[2]) && m[1] < m[2])
}

// families are the languages of files of source, by their endings, and of the commands that check only those.
var families = []struct{ files, commands func() *regexp.Regexp }{
	{lazy.Regexp(`\.go$`), lazy.Regexp(`^(?:go|gotestsum|golangci-lint|staticcheck|ginkgo)\b`)},
	{lazy.Regexp(`\.pyi?$`), lazy.Regexp(`^(?:pytest|python[\d.]* -m|tox|nox|mypy|ruff|flake8|pylint)\b`)},
	{lazy.Regexp(`\.rs$`), lazy.Regexp(`^cargo\b`)},
	{lazy.Regexp(`\.(?:[mc]?[jt]s|[jt]sx|vue|svelte|html|s?css)$`), lazy.Regexp(`^(?:npm|npx|yarn|pnpm|bun|deno|jest|vitest|mocha|tsc|eslint|node)\b`)},
	{lazy.Regexp(`\.(?:c|h|cc|cpp|hpp|java|kt|swift|rb|php|cs|ex|exs|erl|hs|ml|lua|r|jl|dart|scala|clj|zig|pl|pm|sh)$`), never},
}

// language returns the row of families that a file is of, -1 if it is no source.
func language(file string) int {
	for i, f := range families {
		if f.files().MatchString(strings.ToLower(file)) {
			return i
		}
	}
	return -1
}

// changedAfter reports whether a file tool wrote a file of source after a check that may cover it.
func (t Turn) changedAfter(later []Done, check Done) bool {
	if check.Before || rerun().MatchString(t.Ending) {
		return false
	}
	return slices.ContainsFunc(later, func(d Done) bool {
		if !slices.Contains(writingTools, d.Tool) || !d.OK || d.Pending || d.Refused {
			return false
		}
		return slices.ContainsFunc(d.wrote(), func(file string) bool {
			if strings.HasPrefix(file, "/tmp/") {
				return false
			}
			only := -1
			for i, f := range families {
				if f.commands().MatchString(check.Subject) {
					only = i
				}
			}
			family := language(file)
			return family >= 0 && (only < 0 || only == family)
		})
	})
}

// rerun says that the checks were not run again.
var rerun = lazy.Regexp(`(?i)\b(?:not|n't) (?:yet )?(?:been )?(?:re-?run|retested|run (?:\pL+ ){1,3}again)|nicht (?:noch einmal|erneut|nochmals?)`)

// inPatch finds the files of a patch in the arguments of a call.
var inPatch = lazy.Regexp(`\*\*\* (?:Update|Add|Delete) File: ([^\n\\"]+)`)

// wrote lists the files that a call of a file tool wrote.
func (d Done) wrote() []string {
	var files []string
	for _, m := range inPatch().FindAllStringSubmatch(d.Arguments, -1) {
		files = append(files, strings.TrimSpace(m[1]))
	}
	return append(files, strings.FieldsFunc(d.Subject, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })...)
}
