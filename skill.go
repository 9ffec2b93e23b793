package hermes

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// SkillSource says where a skill comes from, and so who may change it.
type SkillSource string

// The sources. If two skills have the same name, the one whose source is
// earlier in this list is used.
const (
	SkillProject  SkillSource = "project"  // in a project folder that the user trusts
	SkillUser     SkillSource = "user"     // written by the user or the agent
	SkillHub      SkillSource = "hub"      // installed from elsewhere
	SkillExternal SkillSource = "external" // in another configured folder
	SkillBundled  SkillSource = "bundled"  // part of the program
)

// Skill is a stored procedure: when it applies, its steps, its pitfalls, and
// how to check the outcome.
type Skill struct {
	// Name identifies the skill: lower-case letters, digits, dot, underscore
	// and hyphen, at most 64 characters.
	Name string
	// Description is one sentence of at most 1,024 characters.
	Description string
	// Category is one plain word, or empty.
	Category string
	Source   SkillSource
	Tags     []string
}

// Provenance returns the skill as a source of untrusted text, as in [Message].
// It is "" for skills of the user or the agent and for bundled ones.
func (s Skill) Provenance() string {
	switch s.Source {
	case SkillUser, SkillBundled:
		return ""
	}
	return ProvenanceSource(string(s.Source), "skill", s.Name)
}

// SkillText is one file of a skill.
type SkillText struct {
	Skill Skill
	// File is the path inside the skill with slashes; SKILL.md is the main one.
	File    string
	Content string
	// Hash identifies the content; see [SkillEdit.Base].
	Hash string
	// Files are the skill's other files, sorted.
	Files []string
	// Folder is the skill's folder on this machine, empty if it has none.
	Folder string
	// Missing are the environment variables that it needs but that are not set.
	Missing []SkillVariable
	// Withheld are variables that it names but that commands never get.
	Withheld []WithheldVariable
}

// Notes returns what a model must know in addition to the content: the other
// files, the folder, the missing and the withheld variables. It is "" if there is
// nothing.
func (t SkillText) Notes() string {
	var lines []string
	if len(t.Files) > 0 {
		lines = append(lines, "Other files of this skill: "+strings.Join(t.Files[:min(len(t.Files), 40)], ", "))
	}
	if t.Folder != "" {
		lines = append(lines, "Folder: "+t.Folder)
	}
	for _, v := range t.Withheld {
		lines = append(lines, fmt.Sprintf("Not passed to commands: %s, which holds %s. If the skill needs it in a command, tell the user to give it a key of its own in another variable.", v.Name, v.Holds))
	}
	for _, v := range t.Missing {
		line := "Not set: " + v.Name
		for _, more := range []string{v.Prompt, v.Help, v.For} {
			if more != "" {
				line += "; " + more
			}
		}
		lines = append(lines, fmt.Sprintf("%s. The user sets it with `hermes config set %s VALUE`; never ask for the value in the chat.", line, v.Name))
	}
	return strings.Join(lines, "\n")
}

// SkillVariable is an environment variable that a skill needs.
type SkillVariable struct {
	Name   string
	Prompt string // what to ask the user for
	Help   string // where to get it
	For    string // what does not work without it
}

// WithheldVariable is a variable that holds a key which only the program itself
// uses.
type WithheldVariable struct {
	Name  string
	Holds string // such as "a key of Telegram"
}

// SkillEdit is new content for one file of a skill.
type SkillEdit struct {
	Name string
	// New says that the skill must not exist yet. Category is for new skills.
	New      bool
	Category string
	// File is empty or SKILL.md for the main file.
	File    string
	Content string
	// Base, if set, is the Hash of the text that was edited: if the file has
	// changed since, nothing is written.
	Base string
	// Agent says that the model makes the change, not the user. Session is the
	// session in which it does.
	Agent   bool
	Session string
	// Provenance names the sources of untrusted text that this session had
	// read, as in Message. Pending changes are stored as JSON, so the keys of
	// all these fields must stay.
	Provenance string `json:"Outside"`
	// Propose stores a pending change for the user instead of making it.
	Propose bool `json:"Stage"`
	// Granted says that the user allowed the change despite a [SkillDoubt].
	Granted bool
	// Trial is the replay that tested the content, nil for none. It is stored
	// with the change; a change that lost becomes a pending change.
	Trial *SkillTrial
}

// SkillRemoval removes a skill or one of its files.
type SkillRemoval struct {
	Name string
	// File is empty for the whole skill. A name of the SKILL.md in any spelling
	// is refused: it never means the whole skill.
	File string
	// Agent, Session, Provenance and Propose are as in SkillEdit.
	Agent      bool
	Session    string
	Provenance string `json:"Outside"`
	Propose    bool   `json:"Stage"`
}

// SkillOutcome says what happened to a change.
type SkillOutcome struct {
	// Pending is the number of the pending change if it waits for the user's
	// approval; nothing has changed yet then.
	Pending string
	// Path is the file or folder that changed.
	Path string
	// Notes are hints how to improve the skill.
	Notes []string
	// Trial is the replay of the change, nil for none.
	Trial *SkillTrial
}

// SkillDoubt is the error of a change that looks dangerous. The user may allow
// it. The findings are texts for the user.
type SkillDoubt struct{ Findings []string }

// Error lists the findings.
func (d *SkillDoubt) Error() string {
	return "the skill looks dangerous: " + strings.Join(d.Findings, "; ")
}

// SkillLibrary stores skills. Its methods may be called concurrently, also by
// several processes on one library. Errors say what is wrong and what to do;
// they wrap ErrNotFound if the skill or file does not exist.
type SkillLibrary interface {
	// List returns the skills that can be used on this machine, sorted by
	// category and name.
	List(ctx context.Context) ([]Skill, error)
	// View returns a file of a skill; an empty file means SKILL.md.
	View(ctx context.Context, name, file string) (SkillText, error)
	// Save writes one whole file; after an error nothing has changed.
	Save(ctx context.Context, e SkillEdit) (SkillOutcome, error)
	// Remove removes a skill or a file. A whole skill can be restored.
	Remove(ctx context.Context, r SkillRemoval) (SkillOutcome, error)
}

// SkillVerdict is the result of replaying a recorded task with a skill.
type SkillVerdict string

// The verdicts.
const (
	SkillWon       SkillVerdict = "won"       // it went better with the skill
	SkillLost      SkillVerdict = "lost"      // it did not
	SkillUndecided SkillVerdict = "undecided" // the replay could not decide
)

// SkillTrial is the replay of a recorded task, once with a skill and once
// without it. Recorded results answer the tool calls; no tool runs.
type SkillTrial struct {
	Name    string       `json:"name,omitempty"` // the skill's
	Verdict SkillVerdict `json:"verdict"`
	// Why is the reason, for the user, with the figures that differ.
	Why string `json:"why"`
	// Session and Turn name the recorded task.
	Session string    `json:"session,omitempty"`
	Turn    int64     `json:"turn,omitempty"`
	At      time.Time `json:"at,omitzero"`
	With    SkillRun  `json:"with,omitzero"`
	Without SkillRun  `json:"without,omitzero"`
	// Tokens is what the whole trial used, with the calls that judged it.
	Tokens int64 `json:"tokens,omitempty"`
}

// SkillRun holds the figures of one of the two runs.
type SkillRun struct {
	// Reached says that the run reached the recorded result.
	Reached bool  `json:"reached"`
	Steps   int   `json:"steps"`  // model calls
	Failed  int   `json:"failed"` // calls whose recorded result is a failure
	Missed  int   `json:"missed"` // calls without a recorded result
	Tokens  int64 `json:"tokens"`
}

// Harmful reports that the task went worse with the skill: it did not reach
// the recorded result although the other run did, or more calls failed.
func (t SkillTrial) Harmful() bool {
	return t.Verdict == SkillLost && (t.Without.Reached && !t.With.Reached || t.With.Failed > t.Without.Failed)
}

// Line returns the outcome in one line, for the user.
func (t SkillTrial) Line() string {
	switch t.Verdict {
	case SkillWon:
		return "won its replay: " + t.Why
	case SkillLost:
		return "lost its replay: " + t.Why
	}
	return "not proven: " + t.Why
}

// Compared lists the figures that differ, such as "4 steps instead of 9".
func (t SkillTrial) Compared() string {
	var parts []string
	add := func(with, without int64, what string) {
		if with == 1 {
			what = strings.TrimSuffix(what, "s")
		}
		if with != without {
			parts = append(parts, fmt.Sprintf("%d %s instead of %d", with, what, without))
		}
	}
	w, o := t.With, t.Without
	add(int64(w.Steps), int64(o.Steps), "steps")
	add(int64(w.Failed), int64(o.Failed), "failed calls")
	add(int64(w.Missed), int64(o.Missed), "unknown calls")
	add(w.Tokens, o.Tokens, "tokens")
	if len(parts) == 0 {
		return "the same in all figures"
	}
	return strings.Join(parts, ", ")
}
