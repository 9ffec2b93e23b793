package hermes

import (
	"context"
	"fmt"
	"strings"
)

// SkillSource says where a skill comes from, and so who may change it.
type SkillSource string

// The sources. Of two skills with one name the later in this list loses,
// except that a skill of the person's own stands before the bundled one.
const (
	SkillProject  SkillSource = "project"  // in a folder that the person trusts
	SkillUser     SkillSource = "user"     // the person's or the agent's own
	SkillHub      SkillSource = "hub"      // installed from elsewhere
	SkillExternal SkillSource = "external" // in another folder that is configured
	SkillBundled  SkillSource = "bundled"  // part of the program
)

// Skill is a procedure that is kept for later: when it applies, the steps, the
// pitfalls, how to check the outcome.
type Skill struct {
	// Name is the skill's only name: lower-case letters, digits, dot,
	// underscore and hyphen, at most 64.
	Name string
	// Description is one sentence of at most 1,024 characters.
	Description string
	// Category is one plain word, or empty.
	Category string
	Source   SkillSource
	Tags     []string
}

// Provenance says that others wrote the skill, as in [Message]: it is "" for what
// the person and the agent made and for what is part of the program.
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
	// Hash tells two contents apart; see [SkillEdit.Base].
	Hash string
	// Files are the skill's other files, sorted.
	Files []string
	// Folder is where the skill lies on this machine, empty if it has no folder.
	Folder string
	// Missing are the environment variables that it needs and that are not set.
	Missing []SkillVariable
}

// Notes says what a model must know beside the content: the other files, where
// the skill lies, what is not set. It is "" where there is nothing.
func (t SkillText) Notes() string {
	var lines []string
	if len(t.Files) > 0 {
		lines = append(lines, "Other files of this skill: "+strings.Join(t.Files[:min(len(t.Files), 40)], ", "))
	}
	if t.Folder != "" {
		lines = append(lines, "Folder: "+t.Folder)
	}
	for _, v := range t.Missing {
		line := "Not set: " + v.Name
		for _, more := range []string{v.Prompt, v.Help, v.For} {
			if more != "" {
				line += "; " + more
			}
		}
		lines = append(lines, fmt.Sprintf("%s. The person sets it with `hermes config set %s VALUE`; never ask for the value in the chat.", line, v.Name))
	}
	return strings.Join(lines, "\n")
}

// SkillVariable is an environment variable that a skill needs.
type SkillVariable struct {
	Name   string
	Prompt string // what to ask the person for
	Help   string // where to get it
	For    string // what does not work without it
}

// SkillEdit is a new content of one file of a skill.
type SkillEdit struct {
	Name string
	// New says that there must be no such skill yet; Category is for new ones.
	New      bool
	Category string
	// File is empty or SKILL.md for the main file.
	File    string
	Content string
	// Base, where set, is the Hash of the text that was edited: if the file has
	// changed since, nothing is written.
	Base string
	// Agent says that the model makes the change, not the person; Session
	// names the session that it does so in.
	Agent   bool
	Session string
	// Provenance says what text from outside that session had seen, as in Message.
	Provenance string
	// Propose lays the change aside for the person instead of making it.
	Propose bool
	// Granted says that the person has allowed it in spite of a [SkillDoubt].
	Granted bool
	// Trial is the replay that the content was put to, nil for none. It is
	// booked with the change; a change that lost waits for the person.
	Trial *SkillTrial
}

// SkillRemoval takes a skill away, or one of its files.
type SkillRemoval struct {
	Name string
	File string // empty for the whole skill
	// Agent, Session, Provenance and Stage are as in SkillEdit.
	Agent      bool
	Session    string
	Provenance string
	Propose    bool
}

// SkillOutcome tells what became of a change.
type SkillOutcome struct {
	// Pending is the number of the change if it waits for the person's leave;
	// then nothing is changed yet.
	Pending string
	// Path is the file or folder that changed.
	Path string
	// Notes are hints on how the skill could be better.
	Notes []string
	// Trial is the replay of the change, nil for none.
	Trial *SkillTrial
}

// SkillDoubt is the error of a change that looks dangerous: the person may
// allow it. The findings are in plain words.
type SkillDoubt struct{ Findings []string }

// Error lists the findings.
func (d *SkillDoubt) Error() string {
	return "the skill looks dangerous: " + strings.Join(d.Findings, "; ")
}

// SkillLibrary keeps skills. Its methods may be called concurrently, also by
// several processes on one library. Errors say in plain words what is wrong
// and what to do; ErrNotFound is wrapped where there is no such skill or file.
type SkillLibrary interface {
	// List returns the skills that can be used on this machine, sorted by
	// category and name.
	List(ctx context.Context) ([]Skill, error)
	// View returns a file of a skill; an empty file means SKILL.md.
	View(ctx context.Context, name, file string) (SkillText, error)
	// Save writes one file whole, or leaves everything as it was.
	Save(ctx context.Context, e SkillEdit) (SkillOutcome, error)
	// Remove takes a skill or a file away. A whole skill can be restored.
	Remove(ctx context.Context, r SkillRemoval) (SkillOutcome, error)
}
