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
	// readAll reads a script that has no input of its own.
	readAll = `s=$(cat); `
	// readExactly reads a script of $1 bytes: dd reads no more than it is told, also from a pipe.
	readExactly = `n=$1; l=${LC_ALL-}; LC_ALL=C; s=; ` +
		`while [ $n -gt 0 ]; do c=$(dd bs=$n count=1 2>/dev/null; echo x); c=${c%x}; [ ${#c} -gt 0 ] || exit 255; s=$s$c; n=$((n-${#c})); done; ` +
		`LC_ALL=$l; [ "$l" ] || unset LC_ALL; `
	// runScript runs the script if it is between its marks, $2: what was cut, or is the input
	// of another script, does not run. It says on both streams how the script ended, and
	// nothing else, such as that it was killed.
	runScript = `case $s in "#$2"*"#$2") s=${s%"#$2"};; *) exit 255;; esac; exec 3>&2 2>/dev/null; (eval "$s") 2>&3 3>&-; e=$?; echo "$2 $e"; echo "$2 $e" >&3`
	// onTerminal goes before both on a terminal, which changes nothing of the script only in
	// raw mode. The line says that the mode is set. A master without a terminal of its own
	// asks for one where every key and mode is off: hence sane.
	onTerminal = `stty sane; o=$(stty -g); stty raw -echo; echo "$2-ready 0"; `
	// lead says that the shell works, and ends with the connection or its input.
	lead = `echo "$1 0"; exec cat >/dev/null 2>&1`
)

// newMark is what no output contains by chance.
func newMark() string { return "~hermes-" + rand.Text() }

// marked is a script between its marks. What the reading has set is forgotten in it.
func marked(mark, before, text string) string {
	return "#" + mark + "\n" + before + "unset n l s c o\nset --\n" + text + "\n#" + mark
}

// scriptLine is the command line that reads a script of a length and runs it.
func scriptLine(read string, length int, mark string) string {
	return "exec /bin/sh -c '" + read + runScript + "' sh " + strconv.Itoa(length) + " '" + mark + "'"
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
