package evidence

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/lazy"
	"hermes/internal/policy/shell"
)

// Compare returns the claims that nothing of what was done supports, in their order. It asks no model.
//
// A claim is supported by a call of the class that succeeded, in this turn, or in an earlier one if this turn did
// nothing or the claim speaks of earlier work. If the claim names a file or a program, the call must be about it. What is read
// back must agree: a file that was written is there, one that was deleted is not. "Passed" needs the last
// check to have succeeded.
func Compare(t Turn, claims []Claim) []Mark {
	var marks []Mark
	for _, c := range claims {
		if len(c.means) == 0 {
			c.means = []Class{c.Class}
		}
		shown := c.Quote
		if c.said != "" {
			c.Quote = c.said
		}
		c.Quote, c.About = strings.ReplaceAll(c.Quote, "[.]", "."), strings.ReplaceAll(c.About, "[.]", ".")
		why := ""
		for i, class := range c.means {
			one := c
			one.Class = class
			not := t.against(one)
			if not == "" {
				why = ""
				break
			}
			if i == 0 || class == c.Class {
				why = not
			}
		}
		c.Quote = shown
		if why != "" && !slices.ContainsFunc(marks, func(m Mark) bool { return m.Why == why && strings.Contains(m.Quote, shown) }) {
			marks = append(marks, Mark{c, why})
		}
	}
	return marks
}

// earlier are words that speak of what was done before this turn.
var earlier = lazy.Regexp(`(?i)\b(?:already|earlier|before|previous(?:ly)?|last (?:time|turn)|as i said|bereits|schon|vorhin|zuvor|déjà|ya (?:se|está|he)|anteriormente|già|уже|ранее)\b|已经|已經|之前|先ほど|すでに`)

// against says why nothing supports a claim, "" if something does.
func (t Turn) against(c Claim) string {
	done := t.counted(c)
	words := wordsOf(c)
	if production().MatchString(c.Quote) {
		done = slices.DeleteFunc(done, Done.pushesBranch)
	}
	switch c.Class {
	case Passed:
		return t.passed(done, c, words)
	case Ran:
		return ran(done, c, words)
	case Committed:
		return one(done, func(w work) bool { return w&commits != 0 }, []string{"commit", "merge", "tag"}, "no commit was made", Done.notCommitted)
	case Pushed:
		out := pushes
		if outward().MatchString(c.Quote) {
			out |= hosts
		}
		why := one(done, func(w work) bool { return w&out != 0 }, []string{"push", "publish", "deploy", "release", "upload", "create_pull", "pull_request", "merge_request"}, "nothing was pushed or published", func(d Done) bool {
			return notPushed().MatchString(d.output()) || pushing().MatchString(c.Quote) && upToDate().MatchString(d.output())
		})
		if why != "" && !slices.ContainsFunc(done, func(d Done) bool { return !d.Before && d.does()&commits != 0 }) && slices.ContainsFunc(t.Done, Done.pushedBefore) {
			return "" // there was nothing more to push
		}
		return why
	case Sent:
		out := sends
		if outward().MatchString(c.Quote) {
			out |= pushes | hosts
		}
		return one(done, func(w work) bool { return w&out != 0 }, []string{"send", "sent", "mail", "message", "notify", "reply", "post", "comment", "invite", "create_issue", "issue"}, "nothing was sent", nil)
	case Scheduled:
		if slices.ContainsFunc(done, func(d Done) bool {
			return slices.Contains(writingTools, d.Tool) && d.OK && d.timetable()
		}) {
			return ""
		}
		return one(done, func(w work) bool { return w&schedules != 0 }, []string{"cron", "schedul", "remind", "timer", "event", "calendar"}, "nothing was scheduled", nil)
	case Deleted:
		return t.deleted(done, c, words)
	}
	return t.written(done, c, words)
}

var (
	// committed is printed by git for a commit, and notCommitted if it made no commit.
	committed    = lazy.Regexp(`(?m)^\s*\[[^\]\n]+ [0-9a-f]{7,}\]`)
	notCommitted = lazy.Regexp(`(?i)nothing to commit|nothing added to commit|no changes added|^CONFLICT \(|\nCONFLICT \(|hook exited with code|hook failed|files were modified by this hook|^- hook id: |\n- hook id: |author identity unknown|tell me who you are|aborting commit`)
	// notPushed is printed by git where nothing was pushed.
	notPushed = lazy.Regexp(`(?i)\[(?:remote )?rejected\]|failed to push|no upstream branch|could not read (?:from remote|username|password)|authentication failed|permission denied \(publickey|repository not found|not appear to be a git repository|` +
		`src refspec .* does not match|could not resolve host|unable to access`)
	// upToDate is printed where there was nothing to push; what pushing says was not done then.
	upToDate = lazy.Regexp(`(?i)everything up-to-date`)
	pushing  = lazy.Regexp(`(?i)push|pouss|запуш|推送|プッシュ|푸시`)
	// production is where a branch is not deployed by a push of it.
	production  = lazy.Regexp(`(?i)\b(?:deploy\pL*|rolled out|released|live)\b.*\b(?:to|in|on) (?:production|prod)\b|\blive (?:in|on) prod`)
	liveBranch  = lazy.Regexp(`(?i)^(?:head|(?:.*[:/])?(?:main|master|trunk|prod\w*|release.*|live|deploy.*|gh-pages|v?\d.*))$`)
	liveRemotes = lazy.Regexp(`(?i)heroku|dokku|prod|live|deploy|piku|gigalixir`)
	// outward are words for what is sent by a push.
	outward = lazy.Regexp(`(?i)deploy|publish|releas|upload`)
	// timetable is in the names of files that say when something runs, timesIn in the texts of such files.
	timetable = lazy.Regexp(`(?i)cron|schedule|\.timer\b|launchagents|/workflows/`)
	timesIn   = lazy.Regexp(`(?i)oncalendar|startcalendarinterval|schedule\.every|scheduler|cron[^a-z_]|@(?:daily|hourly|weekly)|\* \* \*`)
)

// counted returns the calls that a claim may be about: those that ran.
func (t Turn) counted(c Claim) []Done {
	acted := t.acted()
	return slices.DeleteFunc(slices.Clone(t.Done), func(d Done) bool {
		return d.Refused || d.Before && acted && !earlier().MatchString(c.Quote)
	})
}

// acted reports whether the turn did more than look.
func (t Turn) acted() bool {
	return slices.ContainsFunc(t.Done, func(d Done) bool { return !d.Before && !d.Refused && !d.looksOnly() })
}

// The tools of Hermes whose subject is a command, or which write.
const commandTool = "terminal"

var (
	writingTools = []string{"write_file", "patch"}
	keepingTools = []string{"memory", "skill_manage", "learning", "todo"}
)

// pushesBranch reports whether a call does no more than push a branch that is not the one that is deployed.
func (d Done) pushesBranch() bool {
	if d.Tool != commandTool {
		return false
	}
	branch, other := false, false
	shell.Commands(d.Subject, func(words []string) bool {
		if does(words)&pushes == 0 {
			return true
		}
		args := slices.DeleteFunc(slices.Clone(withoutGlobals(words)), func(w string) bool { return strings.HasPrefix(w, "-") })
		if path.Base(words[0]) == "git" && len(args) == 4 && args[1] == "push" && !liveRemotes().MatchString(args[2]) && !liveBranch().MatchString(args[3]) && !strings.ContainsRune(args[3], 0) {
			branch = true
		} else {
			other = true
		}
		return true
	})
	return branch && !other
}

// notCommitted reports whether the output of a call says that there is no commit. git status may say so of the time after it.
func (d Done) notCommitted() bool {
	out := d.output()
	if committed().MatchString(out) {
		return false
	}
	if says := notCommitted().FindAllString(out, -1); strings.Contains(d.Subject, "git status") {
		return len(says) > 1 || len(says) == 1 && !strings.EqualFold(says[0], "nothing to commit")
	}
	return notCommitted().MatchString(out)
}

// pushedBefore reports whether a call of an earlier turn pushed.
func (d Done) pushedBefore() bool {
	return d.Before && d.OK && !d.Refused && d.does()&pushes != 0 && !notPushed().MatchString(d.output()) && !upToDate().MatchString(d.output())
}

// timetable reports whether a call of a file tool says when something runs. The name of a program does not.
func (d Done) timetable() bool {
	return slices.ContainsFunc(d.wrote(), func(f string) bool { return timetable().MatchString(f) && language(f) < 0 }) || timesIn().MatchString(strings.ReplaceAll(d.Arguments, d.Subject, ""))
}

// looksOnly reports whether a call only reads.
func (d Done) looksOnly() bool {
	switch d.Tool {
	case "read_file", "search_files", "session_search", "skills_list", "skill_view", "clarify", "web_search", "web_extract":
		return true
	case commandTool:
		return doesLine(d.Subject) == readsOnly
	}
	return !slices.Contains(writingTools, d.Tool) && !slices.Contains(keepingTools, d.Tool) && reading().MatchString(d.Tool)
}

// reading finds the names of tools that only read.
var reading = lazy.Regexp(`(?i)(?:^|_|-)(?:list|get|read|search|fetch|find|query|describe|show|view|count|status)(?:_|-|$|s_)`)

// does returns what a call did.
func (d Done) does() work {
	if d.Tool == commandTool || d.Tool == "process" && d.Subject != "" {
		return doesLine(d.Subject)
	}
	return 0
}

// named reports whether the name of a tool that is not one of Hermes has one of these stems.
func (d Done) named(stems []string) bool {
	name := strings.ToLower(d.Tool)
	return !slices.Contains(writingTools, name) && !slices.Contains(keepingTools, name) && name != commandTool && !d.looksOnly() &&
		slices.ContainsFunc(stems, func(s string) bool { return strings.Contains(name, s) })
}

// one looks for a call that succeeded and does what a claim says. What it printed may say that it did not.
func one(done []Done, does func(work) bool, stems []string, nothing string, not func(Done) bool) string {
	why := nothing
	for _, d := range done {
		if !does(d.does()) && !d.named(stems) {
			continue
		}
		switch {
		case !d.OK:
			why = "the call that tried it failed"
		case d.Pending:
			why = "it waits for your approval"
		case not != nil && not(d):
			why = "the output of the call says otherwise"
		default:
			return ""
		}
	}
	return why
}

// kindOfRun is a row of kindsOfRun.
type kindOfRun struct {
	words []string
	work  work
}

// kindsOfRun are words of claims and what must have run.
var kindsOfRun = []kindOfRun{
	{[]string{"test", "suite", "pytest", "spec"}, checks}, {[]string{"lint", "vet", "type check", "typecheck"}, checks | formats}, {[]string{"build", "compil"}, checks | scripts},
	{[]string{"format", "gofmt", "prettier", "black"}, formats | checks}, {[]string{"install"}, installs | checks}, {[]string{"migrat"}, migrates | scripts}, {[]string{"benchmark", "load test", "profil"}, measures | scripts | checks},
	{[]string{"server", "service", "container"}, serves | scripts}, {[]string{"script"}, scripts | checks}, {[]string{"deploy"}, pushes | scripts},
}

// ran looks for a command that a claim of having run something is about, whether it succeeded or not.
func ran(done []Done, c Claim, words []string) string {
	commands := slices.DeleteFunc(slices.Clone(done), func(d Done) bool {
		return d.Tool != commandTool && (d.looksOnly() || slices.Contains(writingTools, d.Tool) || slices.Contains(keepingTools, d.Tool))
	})
	if len(commands) == 0 {
		return "nothing was run"
	}
	text := strings.ToLower(c.Quote + " " + c.About)
	if smoothly().MatchString(text) && !slices.ContainsFunc(commands, func(d Done) bool { return d.OK && d.does() != readsOnly }) {
		return "what was run failed"
	}
	if kinds := kindsIn(c); len(kinds) > 1 && !slices.ContainsFunc(commands, func(d Done) bool { return d.does()&scripts != 0 }) && slices.ContainsFunc(kinds, func(k *kindOfCheck) bool {
		return !slices.ContainsFunc(commands, func(d Done) bool { return d.checked(k, false) != noPart })
	}) {
		return "not all of it was run"
	}
	if slices.ContainsFunc(commands, func(d Done) bool {
		return about(d, words) && d.does() != readsOnly || d.Tool == commandTool && (slices.ContainsFunc(programs(c.Quote+" `"+c.About+"`"), func(p string) bool { return strings.HasPrefix(d.Subject, p) }))
	}) {
		return ""
	}
	for _, k := range kindsOfRun {
		if !slices.ContainsFunc(k.words, func(w string) bool { return strings.Contains(text, w) }) {
			continue
		}
		if slices.ContainsFunc(commands, func(d Done) bool { return d.does()&k.work != 0 || d.named(k.words) }) {
			return ""
		}
		return "no command of this kind was run"
	}
	if !slices.ContainsFunc(commands, func(d Done) bool { return d.does() != readsOnly }) {
		return "what was run only looks"
	}
	if len(words) > 0 && len(fileNames(text))+len(programs(c.Quote)) > 0 {
		return "no command or tool that was run is about it"
	}
	return ""
}

// smoothly are words of what succeeded.
var smoothly = lazy.Regexp(`(?i)\b(?:successful(?:ly)?|without (?:a hitch|problems?|errors?|issues?)|cleanly|smoothly|end to end|erfolgreich|fehlerfrei|sans erreur|sin errores|sem erros|senza errori)\b|成功`)

// written looks for a call that wrote what a claim says was saved or edited.
func (t Turn) written(done []Done, c Claim, words []string) string {
	files := fileNames(c.Quote + " " + c.About)
	builds := made().MatchString(c.Quote)
	remembers := len(files) == 0 && keeping().MatchString(c.Quote+" "+c.About)
	why := "nothing was written"
	if remembers {
		why = "nothing was saved to memory"
	}
	for _, d := range done {
		w := d.does()
		keeps := slices.Contains(keepingTools, d.Tool)
		writer := slices.Contains(writingTools, d.Tool) || keeps && (len(files) == 0 || about(d, files)) || w&(writes|formats|installs|commits|deletes|migrates|scripts) != 0 || w&checks != 0 && (builds || !onlyChecks().MatchString(d.Subject) || len(files) == 0 && building().MatchString(d.Subject) && !fixing().MatchString(c.Quote)) ||
			d.named([]string{"write", "save", "create", "update", "edit", "add", "set", "insert", "put", "store", "upload", "patch", "replace", "append"})
		if !writer || remembers && d.Tool == "todo" || remembers && !keeps && !slices.Contains(writingTools, d.Tool) {
			continue
		}
		switch {
		case !d.OK && !(d.Tool == commandTool && t.certain(files)):
			why = "the call that tried it failed"
			continue
		case d.Pending:
			why = "it waits for your approval"
			continue
		case len(files) > 0 && !about(d, files) && w&(scripts|formats|installs|checks|migrates) == 0:
			if why == "nothing was written" {
				why = "nothing wrote " + strings.Join(files, ", ")
			}
			continue
		}
		if gone := t.missing(files, true); gone != "" && !slices.ContainsFunc(done, func(d Done) bool { return d.OK && d.tookAway(gone, moving().MatchString(c.Quote)) }) {
			return gone + " does not exist"
		}
		if len(files) > 0 && !about(d, files) && !t.there(files) {
			why = "nothing wrote " + strings.Join(files, ", ")
			continue
		}
		if not := t.unwritten(listed(c.Quote)); not != "" {
			why = "nothing wrote " + not
			continue
		}
		return ""
	}
	return why
}

// made are words for what a build writes.
var made = lazy.Regexp(`(?i)\b(?:built|compiled|generated|created|rendered|re-rendered|regenerated|exported|produced|bundled|packed|packaged|installed|downloaded|recorded|measured|gebaut|erstellt|kompiliert|generiert)\b`)

var (
	// onlyChecks and building are in commands that check, and that also build; fixing is what a build does not do.
	onlyChecks = lazy.Regexp(`(?i)test|spec|lint|vet|check|verify|jest|mocha|tsc|mypy|ruff|flake8|clippy|build|compile`)
	building   = lazy.Regexp(`(?i)build|compile|tsc`)
	fixing     = lazy.Regexp(`(?i)\b(?:fix\pL*|bugs?|corrected|repaired|patched|refactored|behoben|korrigiert|repariert|fehler|corrig\pL*|correg\pL*)\b`)
)

// moving says that a file is no longer where it was.
var moving = lazy.Regexp(`(?i)\b(?:renamed|moved|renaming|moving|umbenannt|verschoben|renommé\pL*|déplacé\pL*|renombr\pL*|rinominat\pL*|spostat\pL*|hernoemd|verplaatst)\b|переименова|重命名|移动`)

// tookAway reports whether a call deleted a file, or moved it to another place if that counts.
func (d Done) tookAway(file string, moved bool) bool {
	if d.Tool != commandTool {
		return false
	}
	found := false
	shell.Commands(d.Subject, func(words []string) bool {
		w, part := does(words), words[1:]
		if len(part) > 0 && (path.Base(words[0]) == "mv" || path.Base(words[0]) == "git" && slices.Contains(words, "mv")) {
			if part = part[:len(part)-1]; !moved { // the last is where to
				return true
			}
		} else if w&deletes == 0 {
			return true
		}
		found = found || about(Done{Subject: strings.Join(part, " ")}, []string{file})
		return true
	})
	return found
}

// listed returns the files of a list, as in "a.go, b.go and c.go".
func listed(text string) []string {
	files := fileNames(text)
	for i := range len(files) - 1 {
		_, after, _ := strings.Cut(text, files[i])
		between, _, found := strings.Cut(after, files[i+1])
		if !found || !joins().MatchString(between) {
			return nil
		}
	}
	if len(files) < 2 {
		return nil
	}
	return files
}

// joins is between the files of a list.
var joins = lazy.Regexp("^[`*_\"']*(?:,|, and| and|,? und| y| et| e| en|、|和|и) [`*_\"']*(?:\\./)?$")

// unwritten returns the first file of a list that certainly no call wrote, "" for none.
func (t Turn) unwritten(files []string) string {
	sure := !slices.ContainsFunc(t.Done, func(d Done) bool {
		return !slices.Contains(writingTools, d.Tool) && d.OK && (d.Tool != commandTool && d.Tool != "process" && !d.looksOnly() && !slices.Contains(keepingTools, d.Tool) || d.does()&(writes|formats|scripts|migrates|installs|deletes) != 0)
	})
	for _, f := range files {
		if sure && !slices.ContainsFunc(t.Done, func(d Done) bool { return slices.Contains(writingTools, d.Tool) && d.OK && about(d, []string{f}) }) {
			return f
		}
	}
	return ""
}

// keeping are words for what is kept in the memory rather than in a file.
var keeping = lazy.Regexp(`(?i)\b(?:memory|remember\pL*|preference|noted|note for|for next time|skill|learning|gemerkt|notiert|gedächtnis|mémoire|memoria)\b|记住|記憶|记忆`)

// deleted looks for a call that removed what a claim says was deleted.
func (t Turn) deleted(done []Done, c Claim, words []string) string {
	files := fileNames(c.Quote + " " + c.About)
	isPart := partly().MatchString(c.Quote)
	if isPart && slices.ContainsFunc(done, func(d Done) bool {
		return slices.Contains(writingTools, d.Tool) && d.OK && !d.Pending && about(d, files)
	}) {
		return "" // a part of a file that is still there
	}
	why := "nothing was deleted"
	for _, d := range done {
		w := d.does()
		edits := len(files) == 0 && (isPart || !wholes().MatchString(c.Quote)) && (slices.Contains(writingTools, d.Tool) || w&(writes|formats) != 0) // a part of a file was removed
		if w&deletes == 0 && !edits && !(slices.Contains(writingTools, d.Tool) && strings.Contains(d.Arguments, "Delete File")) &&
			!(slices.Contains(keepingTools, d.Tool) && removing().MatchString(d.Arguments)) && w&scripts == 0 && !d.named([]string{"delete", "remove", "drop", "purge", "archive", "clear", "trash"}) {
			continue
		}
		switch {
		case !d.OK:
			why = "the call that tried it failed"
			continue
		case d.Pending:
			why = "it waits for your approval"
			continue
		}
		if len(files) > 0 && w&deletes != 0 && !about(d, files) && !strings.ContainsAny(d.Subject, "*?") && !strings.Contains(d.Subject, " -r") && !t.certainlyGone(files) {
			why = "nothing deleted " + strings.Join(files, ", ")
			continue
		}
		if stays := t.missing(files, false); stays != "" {
			return stays + " is still there"
		}
		if w&scripts != 0 && w&deletes == 0 && len(files) == 0 && !about(d, words) && !deleting().MatchString(d.Subject+d.Arguments) {
			continue
		}
		return ""
	}
	if isPart && len(files) > 0 && t.missing(files, false) != "" && slices.ContainsFunc(done, func(d Done) bool { return slices.Contains(writingTools, d.Tool) && d.OK }) {
		return ""
	}
	return why
}

var (
	deleting = lazy.Regexp(`(?i)\b(?:delete|drop|truncate|remove|unlink|purge|clean|clear)`)
	removing = lazy.Regexp(`"(?:action|command|operation)"\s*:\s*"(?:remove|delete|forget|archive)"`)
	// wholes are words for what is no part of a file.
	wholes = lazy.Regexp(`(?i)\b(?:backups?|folders?|director(?:y|ies)|files|snapshots?|ordner|verzeichnis(?:se)?|dateien)(?:$|[^\pL\s]| (?:that|which|older|of|on|for|as|and|are|is|was|were|gelöscht|entfernt|die|von)\b)`)
	partly = lazy.Regexp(`(?i)\b(?:from|in|of|out of|function|line|import|unused|code|section|aus|von|de|del|dans)\b`)
)

// missing returns the first file that should be there and certainly is not, or should not and is.
func (t Turn) missing(files []string, want bool) string {
	for _, f := range files {
		if t.Exists == nil {
			break
		}
		if exists, known := t.Exists(f); known && exists != want {
			return f
		}
	}
	return ""
}

// certain reports whether all files are there, and there is one.
func (t Turn) certain(files []string) bool {
	return len(files) > 0 && t.Exists != nil && !slices.ContainsFunc(files, func(f string) bool {
		exists, known := t.Exists(f)
		return !exists || !known
	})
}

// certainlyGone reports whether none of the files is there.
func (t Turn) certainlyGone(files []string) bool {
	return t.Exists != nil && !slices.ContainsFunc(files, func(f string) bool {
		exists, known := t.Exists(f)
		return exists || !known
	})
}

// there reports whether one of the files certainly exists, or nothing can be known.
func (t Turn) there(files []string) bool {
	if t.Exists == nil {
		return true
	}
	return slices.ContainsFunc(files, func(f string) bool {
		exists, known := t.Exists(f)
		return exists || !known
	})
}

// about reports whether a call has one of the words in its subject or its arguments. The name of a file counts
// as a whole: .env is not in .env.example.
func about(d Done, words []string) bool {
	text := strings.ToLower(d.Tool + " " + d.Subject + " " + d.Arguments)
	return slices.ContainsFunc(words, func(w string) bool {
		w = strings.ToLower(path.Base(w))
		isFile := strings.Contains(w, ".")
		for from := 0; ; {
			at := strings.Index(text[from:], w)
			if at < 0 || w == "" {
				return false
			}
			from += at + len(w)
			if !isFile || !longer().MatchString(text[from:]) {
				return true
			}
		}
	})
}

// longer begins what makes the name of a file another one.
var longer = lazy.Regexp(`^(?:[\w-]|\.[a-z0-9])`)

// fileName finds names of files and folders as people write them.
var fileName = lazy.Regexp("[\\w@~./\\\\-]*[\\w-]\\.[A-Za-z][A-Za-z0-9]{0,9}\\b|\\.[a-z][\\w.-]{2,}|[\\w@~.-]+/[\\w@./-]*[\\w@-]")

// notFiles are what looks like the name of a file and is none.
var notFiles = []string{"e.g", "i.e", "etc.", "node.js", "vue.js", "next.js", "and/or", "his/her", "he/she", "ci/cd", "i/o", "n/a", "w/o", "tcp/ip", "yes/no"}

// fileNames lists the files that a text names, without line numbers and quotes.
func fileNames(text string) []string {
	var files []string
	for _, f := range fileName().FindAllString(text, -1) {
		f = strings.TrimRight(strings.TrimPrefix(f, "./"), ".,/")
		low := strings.ToLower(f)
		switch {
		case len(f) < 3, slices.Contains(notFiles, low), strings.Contains(low, "@") && !strings.Contains(low, "/"), strings.HasPrefix(low, "origin/"), strings.HasPrefix(low, "http"), strings.HasPrefix(low, "www."):
			continue
		case strings.Count(f, ".") == 1 && !strings.Contains(f, "/") && !extension().MatchString(low): // package.Func
			continue
		}
		if !slices.Contains(files, f) {
			files = append(files, f)
		}
	}
	return files
}

var extension = lazy.Regexp(`\.(?:go|py|js|mjs|cjs|ts|tsx|jsx|rs|c|h|cc|cpp|hpp|java|kt|swift|rb|php|cs|sh|bash|zsh|fish|ps1|sql|html?|css|scss|vue|svelte|md|rst|txt|json[lc5]?|ya?ml|toml|ini|cfg|conf|env|lock|mod|sum|xml|csv|tsv|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|zip|tar|gz|tgz|log|db|sqlite3?|proto|graphql|tf|ex|exs|erl|hs|ml|lua|r|ipynb|bak|tmp|pem|key|ics|eml|service|timer|gitignore|dockerfile|makefile|old|orig|out|pb)$`)

// quoted finds what an ending marks as code.
var quoted = lazy.Regexp("`([^`\n]+)`")

// programs lists the programs in what an ending marks as code.
func programs(text string) []string {
	var list []string
	for _, m := range quoted().FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// wordsOf returns the words of a claim that a call about it would have: names of files, what is marked as code, and
// longer words that are not the language of claims.
func wordsOf(c Claim) []string {
	words := fileNames(c.Quote + " " + c.About)
	for _, p := range programs(c.Quote + " " + c.About) {
		words = append(words, strings.Fields(p)...)
	}
	for w := range strings.FieldsSeq(c.About) {
		if w = strings.Trim(strings.ToLower(w), "`'\".,;:()"); utf8.RuneCountInString(w) > 3 && !slices.Contains(common, w) {
			words = append(words, w)
		}
	}
	for w := range strings.FieldsSeq(c.Quote) {
		if w = strings.Trim(strings.ToLower(w), "`'\".,;:()*"); utf8.RuneCountInString(w) > 4 && !slices.Contains(common, w) && !Speaks(w) {
			words = append(words, stem(w))
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return utf8.RuneCountInString(strings.Trim(w, "-")) < 3 })
}

// stem leaves out what words end in.
func stem(w string) string {
	for _, end := range []string{"ations", "ation", "ings", "ing", "ions", "ion", "ers", "er", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) > 3 {
			return s
		}
	}
	return w
}

// common are longer words that say nothing about what was done.
var common = []string{
	"have", "also", "then", "file", "files", "this", "that", "with", "into", "from", "your", "their", "there", "these", "those", "which", "about", "after", "again", "everything", "successfully", "locally", "please", "project", "working", "fully", "cleanly", "without",
	"changes", "command", "commands", "function", "version", "result", "results", "output", "using", "under", "every", "three", "remote", "branch", "origin", "main", "master", "tests", "test", "suite", "build", "code",
}
