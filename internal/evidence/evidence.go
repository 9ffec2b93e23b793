// Package evidence compares what a model says that it did with what was done.
//
// A model that ends its turn with "I pushed it, and all tests pass" may have done neither. Check finds such claims
// with one small call of a model, which only quotes them, and then looks for the calls that support each: that
// part is a table and no model. What nothing supports is returned, to be marked for the reader.
//
//	speaks.go    which sentences may claim something; no model is asked if there are none
//	ask.go       the question to the model, and its answer
//	compare.go   what supports a claim of each class
//	passed.go    whether the last check of a kind passed, and still says something
//	programs.go  which programs do what
//	done.go      what was done, from a transcript and rows of the audit log
//
// The package reads no store and knows no model: it is handed both, and how to ask.
package evidence

import (
	"context"
	"strings"
	"time"
)

// Class is a kind of claim.
type Class string

// The classes.
const (
	Sent      Class = "sent"
	Saved     Class = "saved"
	Edited    Class = "edited"
	Deleted   Class = "deleted"
	Ran       Class = "ran"
	Passed    Class = "passed"
	Committed Class = "committed"
	Pushed    Class = "pushed"
	Scheduled Class = "scheduled"
)

// Classes lists the classes.
func Classes() []Class {
	return []Class{Sent, Saved, Edited, Deleted, Ran, Passed, Committed, Pushed, Scheduled}
}

// Claim is what an ending says that was done.
type Claim struct {
	Class Class
	Quote string // the words, as they are in the ending, or its sentence with them
	About string // what it was done to, such as a file or a program; "" if it names nothing
	// means are the classes that its words may mean, each of which supports it; the class itself if it is empty.
	means []Class
	// around is the sentence of the words in small letters, "" if it is not known.
	around string
	// said are the words as the model quoted them.
	said string
}

// Done is a call that ran, or was refused.
type Done struct {
	Tool    string
	Subject string // its main argument: a command, or paths
	// Arguments and Result are the texts as far as they are known.
	Arguments string
	Result    string
	OK        bool // it succeeded; a command ended with status 0
	Refused   bool // it did not run
	Pending   bool // its change waits for the user
	Open      bool // it was only started, and may still run
	Before    bool // in an earlier turn
	// at is when it ended, if that is known.
	at time.Time
}

// Mark is a claim that nothing supports.
type Mark struct {
	Claim
	Why string // what is missing, in words for the user
}

// Turn is what a turn said and did.
type Turn struct {
	Ending string
	Done   []Done // in their order, those of children too
	// Exists reports whether there is a file, by a path as an ending writes it, and whether that
	// is known; nil knows of none.
	Exists func(path string) (exists, known bool)
}

// Ask sends a prompt to a model and returns its answer.
type Ask func(ctx context.Context, system, prompt string, maxTokens int) (string, error)

// Check returns the claims of a turn that nothing supports. It asks a model at most once, with at most [MaxTokens]
// for the question and the answer, and not at all if the turn changed nothing and no sentence speaks of a class. If the model cannot be asked,
// or its answer cannot be read, nothing is known and the error says why.
func Check(ctx context.Context, t Turn, ask Ask) ([]Mark, error) {
	t.Ending = end(t.Ending)
	sentences := Speaking(t.Ending)
	if len(sentences) == 0 && t.acted() {
		sentences = last(t.Ending)
	}
	if len(sentences) == 0 {
		return nil, nil
	}
	claims, err := claimed(ctx, t.Ending, strings.Join(sentences, "\n"), ask)
	if err != nil {
		return nil, err
	}
	return Compare(t, claims), nil
}

// end returns the end of a text, as much as is looked at. What is in a block of code there stays in one.
func end(text string) string {
	cut := len(text) - maxEnding
	if cut <= 0 {
		return text
	}
	tail := strings.ToValidUTF8(text[cut:], "")
	if fence := "\n```"; strings.Count("\n"+text[:cut], fence)%2 != 0 {
		tail = fence + "\n" + tail
	}
	return tail
}
