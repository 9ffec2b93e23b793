package rented

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"io"
	"strings"
	"unicode/utf8"

	"hermes/internal/environment/remote"
)

// Line is what a service runs with sh -c.
type Line struct {
	// Text is short enough for one argument, also after it was quoted once more, and
	// valid UTF-8.
	Text string
	// Stdout and Stderr are not nil. They may be the same writer; then nothing goes to
	// Stderr.
	Stdout, Stderr io.Writer
}

const (
	// mostInline bounds a quoted script in a line. An argument of Linux ends at 128 KB, and
	// quoting a text of quotes once more makes it three times as long.
	mostInline = 24 << 10
	// mostInput bounds the input in a line, in bytes.
	mostInput = 12 << 10
)

// body makes the line for a script, and the files that it needs. Its stderr is descriptor
// 7, so that what the shell of the line says itself, such as "Killed", can be dropped. exec
// is there because dash would say that on the stderr of the command.
func body(s remote.Script, input []byte, temp string) (string, []File) {
	end := " 2>&7 7>&-"
	if same(s.Stdout, s.Stderr) {
		end = " 2>&1 7>&-"
	}
	quoted := Quote(s.Text)
	if len(quoted) <= mostInline && len(input) <= mostInput && utf8.ValidString(s.Text) {
		if len(input) == 0 {
			return "(exec sh -c " + quoted + " </dev/null" + end + ")", nil
		}
		return "printf %s " + base64.StdEncoding.EncodeToString(input) + " | base64 -d | exec sh -c " + quoted + end, nil
	}
	path, word := temp+"/hermes-"+rand.Text(), ""
	if temp == "~" {
		path, word = "."+path[2:], `"$HOME"/`
	}
	script, given := path+".sh", path+".in"
	word1, word2 := word+Quote(script), word+Quote(given)
	text := "(exec sh " + word1 + " <" + word2 + end + "); c=$?; rm -f " + word1 + " " + word2 + "; (exit $c)"
	return text, []File{{script, []byte(s.Text)}, {given, input}}
}

// plain makes a line whose output is that of the command.
func plain(l Line) Line {
	l.Text = "exec 7>&2 2>/dev/null; " + l.Text + "; exit $?" // so that it does not become the command, with its signals
	return l
}

// same reports whether both streams go to one writer, so that their order matters.
func same(a, b io.Writer) (is bool) {
	defer func() { _ = recover() }() // types that cannot be compared are different writers
	return a != nil && a == b
}

// Quote returns a word of the shell.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// The pump copies its input in base64, one line for whatever has arrived, so that output
// is seen while a command runs. dd ends after one read. A colon tells its lines from what
// the shell itself says.
const pump = `command -v base64 >/dev/null && command -v dd >/dev/null || { echo 'the sandbox has no base64 or no dd' >&2; exit 126; }
p() { while d=$(dd bs=24576 count=1 2>/dev/null | base64 | tr -d '\n') && [ -n "$d" ]; do printf ':%s\n' "$d"; done; }
exec 3>&1 4>&2
`

// encoded makes a line whose output is text, whatever the command writes. Descriptors: 3
// and 4 are the real streams, 5 takes the exit code, 6 leads past the pump of stderr to
// that of stdout.
func encoded(l Line) Line {
	text := pump + `c=$({ { { { ` + l.Text + `
} 3>&- 4>&- 5>&- 6>&-; echo $? >&5; } 7>&1 2>/dev/null >&6 | p >&4; } 6>&1 | p >&3; } 5>&1)
exit "${c:-125}"`
	return Line{text, &decoder{to: l.Stdout}, &decoder{to: l.Stderr}}
}

// decoder decodes what the pump writes.
type decoder struct {
	to   io.Writer
	line []byte // the beginning of a line whose end has not arrived
}

func (d *decoder) Write(p []byte) (int, error) {
	rest := p
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			d.line = append(d.line, rest...)
			return len(p), nil
		}
		if err := d.decode(append(d.line, rest[:i]...)); err != nil {
			return 0, err
		}
		d.line, rest = d.line[:0], rest[i+1:]
	}
}

func (d *decoder) decode(line []byte) error {
	if len(line) > 0 && line[0] == ':' {
		if data, err := base64.StdEncoding.DecodeString(string(bytes.TrimRight(line[1:], "\r"))); err == nil {
			_, err := d.to.Write(data)
			return err
		}
	}
	_, err := d.to.Write(append(line, '\n'))
	return err
}
