package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// CarriedFile is a file of this machine that commands in the place may read.
type CarriedFile struct {
	// Path is where it is in the place, below the home folder there.
	Path string
	Data []byte
}

// HomeFile is a file of this machine that a place shows below its home folder, as containers can.
type HomeFile struct {
	Source string // absolute, without links
	Path   string // below the home folder, with slashes
}

// Carrier has files of this machine that commands in the place may read. Its methods are called
// one at a time.
type Carrier interface {
	// Changed returns the files that have changed since the last call, or all of them, and what the
	// user has to know of others. It is called before each command: it must be fast.
	Changed(all bool) (files []CarriedFile, problems []string)
}

// Instances is an optional method of a [Runner] whose place may be replaced by another one, which has
// none of the files that were put into the first.
type Instances interface {
	// Instance names what scripts run in: another text for another one, and "" before the first
	// script and when it is known to be gone.
	Instance() string
}

// carrying is what is known of the files that a place gets.
type carrying struct {
	mu     sync.Mutex
	from   Carrier // nil for none
	begun  bool
	to     string // the instance that has them
	put    bool   // a script has put one there
	untold []string
	said   map[string]bool
}

//go:embed carry.sh
var carryScript string

//go:embed uncarry.sh
var uncarryScript string

// The exit codes of carry.sh for a file that is not replaced, and for one that would be outside of the home folder.
const (
	exitKept = 48
	exitOut  = 49
)

// carry puts the files that have changed into the place. What fails is told, and hinders no command.
func (p *place) carry(ctx context.Context, f *facts) {
	c := &p.carried
	if c.from == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := p.instance()
	files, problems := c.from.Changed(!c.begun || at != c.to || at == "")
	for _, text := range problems {
		c.tell(text)
	}
	c.begun = true
	for _, file := range files {
		if err := p.put(ctx, f, file); err != nil {
			c.begun = c.begun && !errors.Is(err, errCut) // else all of them again
			if ctx.Err() != nil {
				c.begun = false
				return // the user has stopped the command, and no file failed
			}
			c.tell(fmt.Sprintf("Commands do not get this machine's ~/%s: %v.", file.Path, err))
		}
	}
	c.to = p.instance() // the first script may have made it
}

// instance names what scripts run in; a place that is never replaced is always the same.
func (p *place) instance() string {
	if i, ok := p.runner.(Instances); ok {
		return i.Instance()
	}
	return "the place"
}

var errCut = errors.New("the place cannot be reached")

// put puts one file into the place.
func (p *place) put(ctx context.Context, f *facts, file CarriedFile) error {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errors.New("the place did not answer in time"))
	defer cancel()
	sum := sha256.Sum256([]byte(file.Path))
	alone := "1"
	if l, ok := p.runner.(Lasting); ok && l.Place() != "" {
		alone = ""
	}
	var out, problem bounded
	code, err := p.execAgain(ctx, Script{
		Text:  arguments(f.home, hex.EncodeToString(sum[:6]), file.Path, p.word, strconv.Itoa(len(file.Data)), alone) + carryScript,
		Stdin: bytes.NewReader(file.Data), Stdout: &out, Stderr: &problem,
	}, func() {})
	p.carried.put = p.carried.put || err != nil || strings.Contains(out.String(), "put")
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errCut, err)
	case code == exitDenied:
		return errors.New("there is a file of this name that the user there may not read")
	case code == exitKept:
		return errors.New("there is another file of this name, or it was changed there; it was kept")
	case code == exitOut:
		return errors.New("a link there leads its folder, or ~/.hermes, out of the home folder")
	case code != 0:
		return fmt.Errorf("%s (exit status %d)", firstLine(problem.String()), code)
	}
	return nil
}

// uncarry removes from the place what was put there, unless it is still used or was changed.
func (p *place) uncarry(f *facts) error {
	p.carried.mu.Lock()
	defer p.carried.mu.Unlock()
	if !p.carried.put {
		return nil
	}
	return p.script(uncarryScript, f.home, p.word)
}

// tell remembers a text for the user, once.
func (c *carrying) tell(text string) {
	if c.said[text] {
		return
	}
	if c.said == nil {
		c.said = map[string]bool{}
	}
	c.said[text] = true
	c.untold = append(c.untold, text)
}

// Untold returns what the user has to know of the files that the place gets, each text once.
func (e *Environment) Untold() []string {
	c := &e.place.carried
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.untold
	c.untold = nil
	return list
}
