package away

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"hermes/internal/checkpoint/object"
)

// State is what is at a path, for Apply.
type State struct {
	Kind   byte // 'f' file, 'd' folder, 'l' link, 0 nothing
	Mode   fs.FileMode
	Hash   object.Hash // of a file
	Target string      // of a link
}

// An Order is one thing that Apply does.
type Order struct {
	Do   Deed
	Path string // in the folder; "." is itself
	// Step is the number under which a failure is reported. After one, orders of the same
	// number are not done.
	Step     int
	From, To State
	// At is the content of a file to put; Data is it if the place does not have it.
	At   Location
	Data []byte
	Temp string // the name under which a file or link is made first
}

// Deed is what an order does.
type Deed int

// The deeds. Remove, Mkdir and Put do nothing if it is done, and fail if the path is neither as
// From nor as To says.
const (
	Remove Deed = iota
	Mkdir
	Put
	Open  // give the user all rights of a folder
	Chmod // give a folder the mode of To
)

// Changed is the reason of a failure: the path is not as it was said to be.
const Changed = "it changed in that moment"

//go:embed apply.sh
var applyScript string

// Apply does orders, in their order, and returns why steps failed, by number. It follows no
// link in the tree. Each file is replaced as a whole.
func (w *Workspace) Apply(ctx context.Context, orders []Order) (map[int]string, error) {
	w.early = answer{} // it is not true after this
	mark := word()
	var b strings.Builder
	fmt.Fprintf(&b, "%smark=%s\n%s", w.head(), mark, applyScript)
	for i, o := range orders {
		if i%50 == 49 {
			b.WriteString("own\n")
		}
		dir, name := path.Dir(o.Path), path.Base(o.Path)
		if dir == "." {
			dir = ""
		}
		words := []string{strconv.Itoa(o.Step), quote(dir), quote("./" + name)}
		switch o.Do {
		case Remove:
			words = append(append([]string{"del"}, words...), o.From.words()...)
			words = append(words, quote(kind(o.To.Kind)))
		case Mkdir:
			words = append([]string{"make"}, words...)
		case Put:
			at := string(o.At)
			if o.Data != nil {
				at = fmt.Sprintf("given%d.tmp", i)
				decode(&b, "\"$ws/"+at+"\"", o.Data)
			} else {
				at = "contents/" + at
			}
			words = append(append(append([]string{"put"}, words...), o.From.words()...), o.To.words()...)
			words = append(words, quote(at), quote("./"+o.Temp))
		case Open:
			words = append([]string{"mode"}, append(words, "u+rwx")...)
		case Chmod:
			words = append([]string{"mode"}, append(words, octal(o.To.Mode))...)
		}
		b.WriteString(strings.Join(words, " ") + "\n")
	}
	b.WriteString("cd /\nrm -f \"$ws\"/given*.tmp\nprintf '%sdone' \"$mark\"\n")
	out, _, err := w.place.run(ctx, b.String())
	if err != nil {
		return nil, err
	}
	parts := strings.Split(string(out), mark)
	if parts[len(parts)-1] != "done" {
		return nil, errSense
	}
	failed := map[int]string{}
	for _, p := range parts[:len(parts)-1] {
		n, why, _ := strings.Cut(strings.TrimSpace(p), " ")
		if step, err := strconv.Atoi(n); err == nil && failed[step] == "" {
			why, _, _ = strings.Cut(why, "\n")
			if why == "@" {
				why = Changed
			}
			failed[step] = why
		}
	}
	return failed, nil
}

func kind(k byte) string {
	if k == 0 {
		return ""
	}
	return string(rune(k))
}

// words are the kind, what is in it, and the mode.
func (s State) words() []string {
	value, mode := "", ""
	switch s.Kind {
	case 'f':
		value, mode = s.Hash.String(), octal(s.Mode)
	case 'l':
		value = s.Target
	case 'd':
		mode = octal(s.Mode)
	}
	return []string{quote(kind(s.Kind)), quote(value), quote(mode)}
}
