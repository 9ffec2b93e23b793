package remote

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"sync"

	"hermes/internal/shellstate"
)

// What a script of this package says at the end of a stream: the mark, a word with
// arguments and a line end, text, and the mark with "end". The mark has a random part, so
// that no output contains it by accident.
const (
	saidExit    = "exit"    // exit code and the group that still runs
	saidMissing = "missing" // the folder does not exist
	saidLimits  = "limits"  // a limit cannot be set
	saidBegun   = "begun"   // process ids of a background command
	saidGone    = "gone"    // the background command is not known
	endWord     = "end"     // no other word begins with it
)

// maxAnswer is the most that is kept of an answer.
const maxAnswer = shellstate.Max + 4096

// answer passes the output of a command on, without what a script says after it.
type answer struct {
	to   io.Writer // nil discards
	mark []byte
	done chan struct{} // closed when the answer is whole

	mu    sync.Mutex
	count int64  // bytes passed on
	held  []byte // may be the beginning of the mark
	text  []byte // the answer, from the mark on; nil before
	ended bool
	err   error // of to
}

func newAnswer(to io.Writer, mark string) *answer {
	return &answer{to: to, mark: []byte("\x1e" + mark), done: make(chan struct{})}
}

// Write takes output. It may be called concurrently.
func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(p)
	for len(p) > 0 && a.err == nil {
		if a.text != nil && !a.ended {
			p = a.collect(p)
			continue
		}
		p = a.pass(p)
	}
	return n, a.err
}

// pass passes output on up to the mark and returns what follows it. After the answer, it
// takes out the end of the other stream, which a place may not tell apart.
func (a *answer) pass(p []byte) []byte {
	find := a.mark
	if a.ended {
		find = append(bytes.Clone(a.mark), endWord...)
	}
	if len(a.held) > 0 {
		p = append(a.held, p...)
		a.held = nil
	}
	if before, after, found := bytes.Cut(p, find); found {
		a.send(before)
		if !a.ended {
			a.text = []byte{}
		}
		return after
	}
	keep := 0
	if i := bytes.LastIndexByte(p, find[0]); i >= 0 && bytes.HasPrefix(find, p[i:]) {
		keep = len(p) - i
	}
	a.send(p[:len(p)-keep])
	a.held = bytes.Clone(p[len(p)-keep:])
	return nil
}

func (a *answer) send(p []byte) {
	if len(p) == 0 {
		return
	}
	a.count += int64(len(p))
	if a.to != nil {
		_, a.err = a.to.Write(p)
	}
}

// collect gathers the answer up to its end and returns what follows it.
func (a *answer) collect(p []byte) []byte {
	end := append(bytes.Clone(a.mark), endWord...)
	from := max(0, len(a.text)-len(end))
	a.text = append(a.text, p...)
	if bytes.HasPrefix(a.text, []byte(endWord)) { // of a stream that says no more
		rest := bytes.Clone(a.text[len(endWord):])
		a.finish(nil)
		return rest
	}
	i := bytes.Index(a.text[from:], end)
	if i < 0 {
		if len(a.text) > maxAnswer { // keep the first line and what may begin the end
			line, _, _ := bytes.Cut(a.text[:4096], []byte("\n"))
			a.text = append(append(line[:len(line):len(line)], '\n'), a.text[len(a.text)-len(end):]...)
		}
		return nil
	}
	rest := bytes.Clone(a.text[from+i+len(end):])
	a.finish(a.text[:from+i])
	return rest
}

func (a *answer) finish(text []byte) {
	a.text = append([]byte{}, text...)
	a.ended = true
	close(a.done)
}

// flush passes on what was held back, when no more comes.
func (a *answer) flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	held := a.held
	a.held = nil
	if a.err == nil {
		a.send(held)
	}
}

// said returns the words of a whole answer and the text after them; no words if the
// answer is not whole.
func (a *answer) said() (words []string, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		return nil, ""
	}
	line, text, _ := strings.Cut(string(a.text), "\n")
	return strings.Fields(line), text
}

// passed is how many bytes were passed on.
func (a *answer) passed() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count
}

// number reads an argument of an answer; 0 if it is missing or out of bounds.
func number(words []string, i int) int {
	if i >= len(words) {
		return 0
	}
	n, err := strconv.ParseUint(words[i], 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}
