package ssh

import (
	"bytes"
	"crypto/rand"
	"io"
	"strconv"
	"strings"
	"sync"
)

// The texts below are words in single quotes for the login shell, which may also be csh or
// fish: one line without single quotes, backslashes and exclamation marks.
const (
	// readScript reads the script with its exact length, $1, from the standard input: dd
	// reads no more than it is told, also from a pipe. The first line has the mark, $2: a
	// second reader of the same input would else take the script's own input for a script.
	readScript = `n=$1; l=${LC_ALL-}; LC_ALL=C; s=; ` +
		`while [ $n -gt 0 ]; do c=$(dd bs=$n count=1 2>/dev/null; echo x); c=${c%x}; [ ${#c} -gt 0 ] || exit 255; s=$s$c; n=$((n-${#c})); done; ` +
		`LC_ALL=$l; [ "$l" ] || unset LC_ALL; case $s in "#$2"*) eval "$s";; *) exit 255;; esac`
	// runScript runs $1 in a shell of its own, which may be killed, and says on both streams
	// how it ended. Nothing else is said, such as that it was killed.
	runScript = `exec 3>&2 2>/dev/null; (exec /bin/sh -c "$1" sh "$2" "$3" 2>&3 3>&-); e=$?; echo "$3 $e"; echo "$3 $e" >&3`
	// runOnTerminal does that on a terminal, which changes nothing of the script only in raw
	// mode. The first line says that the mode is set. A master without a terminal of its own
	// asks for one where every key and mode is off: hence sane.
	runOnTerminal = `stty sane; o=$(stty -g); stty raw -echo; echo "$3-ready 0"; exec 3>&2 2>/dev/null; (exec /bin/sh -c "$1" sh "$2" "$3" "$o" 2>&3 3>&-); e=$?; echo "$3 $e"`
	// lead says that the shell works, and ends with the connection or its input.
	lead = `echo "$1 0"; exec cat >/dev/null 2>&1`
)

// forget begins every script: what the reading left is forgotten.
const forget = "unset n l s c\nset --\n"

// newMark is what no output contains by chance.
func newMark() string { return "~hermes-" + rand.Text() }

// scriptLine is the command line that reads a script of a length and runs it.
func scriptLine(run string, length int, mark string) string {
	return "exec /bin/sh -c '" + run + "' sh '" + readScript + "' " + strconv.Itoa(length) + " '" + mark + "'"
}

// leadLine is the command line of the session that opens a connection.
func leadLine(mark string) string { return "exec /bin/sh -c '" + lead + "' sh '" + mark + "'" }

// tail passes on what is written to it until a line with the mark, which has an exit code.
// Its Write never fails.
type tail struct {
	mark []byte
	next io.Writer     // gets what follows the line; nil discards it
	seen chan struct{} // closed after the line
	code int           // valid then

	mu    sync.Mutex
	to    io.Writer // nil discards
	held  []byte    // the last bytes, which may begin the mark
	ended bool
}

func newTail(mark string, to io.Writer) *tail {
	return &tail{mark: []byte(mark + " "), to: to, seen: make(chan struct{})}
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return t.after(p), nil
	}
	all := p
	if len(t.held) > 0 {
		all = append(t.held, p...)
		t.held = nil
	}
	at := bytes.Index(all, t.mark)
	if at < 0 {
		at = len(all) - begins(all, t.mark)
		t.pass(all[:at])
		t.held = bytes.Clone(all[at:])
		return len(p), nil
	}
	t.pass(all[:at])
	code, rest, whole := bytes.Cut(all[at+len(t.mark):], []byte("\n"))
	if !whole {
		t.held = bytes.Clone(all[at:])
		return len(p), nil
	}
	t.code, _ = strconv.Atoi(strings.TrimSpace(string(code)))
	t.ended = true
	close(t.seen)
	t.after(rest)
	return len(p), nil
}

func (t *tail) after(p []byte) int {
	if t.next != nil && len(p) > 0 {
		_, _ = t.next.Write(p)
	}
	return len(p)
}

func (t *tail) pass(p []byte) {
	if t.to == nil || len(p) == 0 {
		return
	}
	if _, err := t.to.Write(p); err != nil {
		t.to = nil
	}
}

// finish passes on what was held back, and nothing from then on.
func (t *tail) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.pass(t.held)
	}
	t.held, t.to = nil, nil
}

// begins is the length of the longest end of b that begins the mark.
func begins(b, mark []byte) int {
	for n := min(len(b), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(b, mark[:n]) {
			return n
		}
	}
	return 0
}

// recent keeps the last bytes that are written to it.
type recent struct {
	mu sync.Mutex
	b  []byte
}

// recentBytes is how much that is.
const recentBytes = 8 << 10

func (r *recent) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.b = append(r.b, p...)
	if over := len(r.b) - recentBytes; over > 0 {
		r.b = append([]byte{}, r.b[over:]...)
	}
	return len(p), nil
}

func (r *recent) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.b)
}
