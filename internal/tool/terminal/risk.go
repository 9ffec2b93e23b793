package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/keyfile"
	"hermes/internal/policy/shell"
)

// riskAssessed is a tool whose calls are judged before they run.
type riskAssessed struct {
	hermes.Tool
	assess  func(*hermes.Call) []hermes.Risk
	subject func(*hermes.Call) hermes.Subject
}

// AssessRisk judges a call; see [hermes.RiskAssessor].
func (r riskAssessed) AssessRisk(_ context.Context, c *hermes.Call) []hermes.Risk { return r.assess(c) }

// Subject describes a call; see [hermes.SubjectNamer].
func (r riskAssessed) Subject(_ context.Context, c *hermes.Call) hermes.Subject { return r.subject(c) }

// Judge returns the risks of a command that a call of another tool would run in the current
// folder, as those of this tool are judged.
func (t *Toolset) Judge(c *hermes.Call, line string) []hermes.Risk {
	of, e := t.by(c), environmentOf(c)
	return risks(shell.Judge(line, of.shellContext(e, folderOf(c, ""))).Within(wallsOf(e)))
}

// commandSubject is the command and the folder in which it would run.
func (t *shellOf) commandSubject(c *hermes.Call) hermes.Subject {
	var in arguments
	if json.Unmarshal(c.Arguments, &in) != nil {
		return hermes.Subject{Text: string(c.Arguments)} // the tool itself refuses it
	}
	s := hermes.Subject{Text: in.Command, Dir: folderOf(c, in.Workdir)}
	if follow := t.followLinks(environmentOf(c)); follow != nil { // a grant is for the folder, not for a link to it
		s.Dir = cmp.Or(follow(s.Dir), s.Dir)
	}
	switch {
	case in.escalates():
		s.Detail = t.outsideDetail(c, in, s.Dir)
	case in.Background:
		s.Detail = "It runs in the background."
	case in.PTY:
		s.Detail = "It runs in a pseudo-terminal."
	}
	return s
}

// inputSubject is the input, with the line that it goes on with, and the process
// that gets it.
func (t *shellOf) inputSubject(c *hermes.Call) hermes.Subject {
	var in processArguments
	if json.Unmarshal(c.Arguments, &in) != nil {
		return hermes.Subject{Text: string(c.Arguments)} // the tool itself refuses it
	}
	j := t.find(in.ID)
	if j == nil {
		return hermes.Subject{Text: in.Data}
	}
	sent, line := j.typed()
	s := hermes.Subject{Text: line + in.Data + "\n[typed into: " + j.command + "]", Dir: j.dir, Commands: []string{}}
	if in.types() {
		s.Commands = append(s.Commands, line+j.lines(in.Data))
		if defines(sent) { // a name that the line has may be from there
			s.Commands = append(s.Commands, sent+j.lines(in.Data))
		}
	}
	return s
}

// folderOf is the folder in which a call with this workdir would run.
func folderOf(c *hermes.Call, workdir string) string {
	if e := environmentOf(c); e != nil {
		if dir, err := e.Files().Resolve(orDot(workdir)); err == nil {
			return dir
		}
	}
	return workdir
}

func (t *shellOf) assessCommand(c *hermes.Call) []hermes.Risk {
	var in arguments
	if json.Unmarshal(c.Arguments, &in) != nil {
		return nil // the tool itself refuses it
	}
	e := environmentOf(c)
	on := t.shellContext(e, folderOf(c, in.Workdir))
	layer := wallsOf(e)
	if in.escalates() {
		layer = ""
	}
	found := append(t.wallRisks(in, e), risks(shell.Judge(in.Command, on).Within(layer))...)
	if in.Background && strings.Contains(in.Command, "hermes") {
		// The tool's background mode counts as nohup.
		for _, f := range risks(shell.Judge("nohup "+in.Command, on)) {
			if f.Key == "gateway-background" && !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	return found
}

// assessInput judges input for a process. Only a shell reads it as commands, so
// for other programs it ignores that the text is not valid shell. They may write
// the files that the text names.
func (t *shellOf) assessInput(c *hermes.Call) []hermes.Risk {
	var in processArguments
	if json.Unmarshal(c.Arguments, &in) != nil || !in.types() {
		return nil
	}
	j := t.find(in.ID)
	if j == nil {
		return nil
	}
	e := environmentOf(c)
	on, layer := t.shellContext(e, j.dir), wallsOf(e)
	sent, line := j.typed()
	data := j.lines(in.Data)
	found := risks(shell.Judge(line+data, on).Within(layer))
	isShell := shell.StartsShell(j.command)
	if editsLine(data, j.terminal, isShell) {
		found = append(found, hermes.Risk{Key: "edited-line", NoRemember: true, Unclear: true, Reason: "edits what was typed with keys, so that it is not known what runs"})
	}
	if isShell {
		return append(found, added(found, sent, data, on, layer)...)
	}
	found = slices.DeleteFunc(found, func(r hermes.Risk) bool {
		return r.Key == "unreadable" || r.Key == "dynamic-command" || r.Key == "too-deep"
	})
	for _, r := range risks(shell.JudgeText(line+data, on).Within(layer)) {
		if !slices.ContainsFunc(found, func(f hermes.Risk) bool { return f.Key == r.Key }) {
			found = append(found, r)
		}
	}
	return found
}

// added returns the risks that input has only after what a shell was sent before,
// such as an alias, without those in found.
func added(found []hermes.Risk, sent, data string, on shell.Context, layer string) []hermes.Risk {
	if sent == "" {
		return nil
	}
	known := slices.Concat(found, risks(shell.Judge(sent, on)))
	return slices.DeleteFunc(risks(shell.Judge(sent+data, on).Within(layer)), func(r hermes.Risk) bool {
		return slices.ContainsFunc(known, func(k hermes.Risk) bool { return k.Key == r.Key && k.Deny == r.Deny })
	})
}

func (t *shellOf) shellContext(e hermes.Environment, dir string) shell.Context {
	if elsewhere(e) { // the folders, processes and files of this machine are not there
		return shell.Context{Home: t.homeOf(e), Dir: dir}
	}
	on := shell.Context{Home: t.homeOf(e), Hermes: t.config.Hermes, Dir: dir, Resolve: t.followLinks(e), PID: t.config.PID, Gateway: t.config.Gateway}
	if on.Resolve != nil {
		on.Holds, on.Links = new(keyfile.Finder).Path, t.config.Links
	}
	return on
}

// homeOf is the user's home folder where the commands run.
func (t *shellOf) homeOf(e hermes.Environment) string {
	if e == nil {
		return t.config.Home
	}
	home := e.Describe(context.Background()).Home
	if home == "" && !elsewhere(e) {
		return t.config.Home
	}
	return home
}

// elsewhere reports whether the commands do not run on this machine.
func elsewhere(e hermes.Environment) bool {
	if e == nil {
		return false
	}
	files, ok := e.Files().(hermes.HostFiles)
	return !ok || !files.OnHost()
}

// wallsOf is the layer of walls around the commands, "" for none.
func wallsOf(e hermes.Environment) string {
	if e == nil {
		return ""
	}
	if c, ok := e.(hermes.Confined); ok {
		return c.Confine(context.Background()).Walls()
	}
	return e.Describe(context.Background()).Isolation.Walls()
}

// risks lists what was found. A path that could not be followed may be any path, so
// that its approval says nothing about another command.
func risks(v shell.Verdict) []hermes.Risk {
	var all []hermes.Risk
	for _, f := range v.Findings {
		upload := f.Key == "secret-upload" // a key leaves by an answer to this very command only
		all = append(all, hermes.Risk{
			Key: f.Key, Reason: f.Reason, Deny: f.Level == shell.Refuse, NoRemember: upload || f.Key == "unknown-path", EveryMode: upload, Bound: upload,
		})
	}
	return all
}

func environmentOf(c *hermes.Call) hermes.Environment {
	if c.Host == nil {
		return nil
	}
	return c.Host.Environment()
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// lines returns input as lines: in a terminal a carriage return ends one.
func (j *job) lines(data string) string {
	if j.terminal {
		return strings.ReplaceAll(data, "\r", "\n")
	}
	return data
}

// types reports whether a call types its data.
func (in processArguments) types() bool { return in.Action == "write" || in.Action == "submit" }

// defines reports whether what a shell was sent may give names a meaning that they have not by themselves.
func defines(sent string) bool {
	return strings.ContainsAny(sent, "=(") || strings.Contains(sent, "alias") || strings.Contains(sent, "hash")
}

// editsLine reports whether input has keys with which a terminal, or a program that reads lines, changes what was typed: then
// the line that runs is another one than the text shows. Programs other than shells use keys to move, so of these only keys
// that delete, move or repeat text beside letters count. Ctrl+C and Ctrl+D alone end something, and type nothing.
func editsLine(data string, terminal, shell bool) bool {
	if strings.Trim(data, "\x03\x04") == "" {
		return false
	}
	if !shell {
		return terminal && strings.ContainsAny(data, "\x01\x02\x06\x08\x0b\x14\x15\x17\x19\x7f") && strings.ContainsFunc(data, func(r rune) bool { return r > ' ' && r != 0x7f })
	}
	if strings.ContainsFunc(data, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
		return true
	}
	return terminal && (strings.Contains(data, "\t") || recalls(data))
}

// recalls reports whether a line has a part of an earlier one, as !! and ^a^b do.
func recalls(data string) bool {
	if strings.HasPrefix(data, "^") || strings.Contains(data, "\n^") {
		return true
	}
	for i := range len(data) - 1 {
		if data[i] == '!' && !strings.ContainsRune(" \t\n=(\"'", rune(data[i+1])) {
			return true
		}
	}
	return false
}
