package remote

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hermes"
	"hermes/internal/shellstate"
)

// maxArgument is the longest text that one program passes to another as an argument, since
// Linux refuses arguments of 128 KiB and more. Longer ones go through a file in the place.
const maxArgument = 100 << 10

//go:embed enter.sh
var enterScript string

//go:embed inner.sh
var innerScript string

//go:embed run.sh
var runScript string

// script is the whole text that runs the command, and its streams.
func (r *run) script() Script {
	s := Script{Stdin: r.c.Stdin}
	r.out = newAnswer(r.c.Stdout, r.mark)
	s.Stdout = r.out
	out, errs := "4>&1", "5>&2"
	if r.c.Stdout == nil {
		out = "4>/dev/null"
	}
	switch {
	case r.c.Stderr == nil:
		errs = "5>/dev/null"
	case r.c.Stderr == r.c.Stdout:
		errs = "5>&4"
		r.errs = r.out
		s.Stderr = r.out
	default:
		r.errs = newAnswer(r.c.Stderr, r.mark)
		s.Stderr = r.errs
	}
	s.Text = r.head() + "exec " + out + " " + errs + "\n" + enterScript + runScript
	return s
}

// head sets what enter.sh, run.sh and start.sh read, and more variables: names and values.
func (r *run) head(more ...string) string {
	e, f := r.env, r.facts
	shell, kept := f.shell, ""
	if !r.c.Keep || r.plain {
		kept = "1"
	}
	if r.plain {
		shell = f.plain
	}
	var b strings.Builder
	b.WriteString(arguments(f.state, strconv.Itoa(r.target.slot), r.target.id, r.mark, shell, kept))
	set := func(name, value string) { fmt.Fprintf(&b, "__hermes_%s=%s\n", name, shellstate.Quote(value)) }
	limits := ulimits(r.c.Limits)
	set("dir", r.dir())
	set("must", r.must())
	set("limits", limits)
	set("setsid", f.setsid)
	set("inner", innerScript)
	for i := 0; i < len(more); i += 2 {
		set(more[i], more[i+1])
	}
	variables := ""
	if !r.plain {
		variables = e.exports(f, r.c.Env)
	}
	if limits != "" {
		variables += limits + " || exit 125\n"
	}
	b.WriteString("__hermes_files=\n")
	for _, part := range []struct{ name, text, file string }{{"env", variables, "v"}, {"line", r.c.Line, "l"}} {
		if len(part.text) > maxArgument {
			part.text = r.stored(&b, part.text, part.file)
		}
		set(part.name, part.text)
	}
	return b.String()
}

// stored writes the lines that store a text in a file of the slot, and returns the line
// that runs it. Quotes would take bash seconds to read.
func (r *run) stored(b *strings.Builder, text, file string) string {
	const store = `[ -d "$1" ] || mkdir -m 700 "$1"
__hermes_files=1
(
TMPDIR=$1
cat >|"$1/%s$2" <<'%s'
%s
%[2]s
)
`
	fmt.Fprintf(b, store, file, r.mark, text)
	return ". " + shellstate.Quote(fmt.Sprintf("%s/%s%d", r.facts.state, file, r.target.slot))
}

// dir is the absolute folder in which the command begins.
func (r *run) dir() string {
	current := r.env.current(r.facts)
	if r.c.Dir == "" {
		return current
	}
	return absolute(r.facts.home, joined(current, r.c.Dir))
}

// must says that the command runs in its folder or not at all, as the user was told.
func (r *run) must() string {
	if r.c.Dir != "" || r.c.Ready != nil || r.c.Outside {
		return "1"
	}
	return ""
}

// ulimits is the line that limits what a shell and each of its children may use.
func ulimits(l hermes.Limits) string {
	var parts []string
	if l.Memory > 0 {
		parts = append(parts, fmt.Sprintf("ulimit -v %d", max(1, l.Memory>>10)))
	}
	if l.CPU > 0 {
		parts = append(parts, fmt.Sprintf("ulimit -t %d", (l.CPU+time.Second-1)/time.Second))
	}
	return strings.Join(parts, " && ")
}
