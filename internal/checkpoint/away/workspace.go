package away

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Workspace is the part of a place's checkpoints that belongs to one folder. Whoever opened it
// last works on it; scripts of those before change nothing any more.
type Workspace struct {
	place *Place
	root  string // the folder that snapshots are made of
	at    string // its folder in the place
	owner string
	// Version is what the small files had when it was opened: it differs after each change.
	// "" is that of no files.
	Version string
	// There reports whether the folder is there, under that path.
	There bool
	early answer // to the question that was asked with Open
}

// ErrMoved means that a path leads to another folder now.
var ErrMoved = errors.New("the path leads to another folder now")

var errLost = errors.New("another program began to work on the checkpoints of this folder; try again")

// BusyError means that another machine works on a workspace.
type BusyError struct{ Folder string }

func (e *BusyError) Error() string {
	return "another machine works on the checkpoints of " + e.Folder + "; try again when it has finished"
}

const (
	// lease is how long a machine that says nothing keeps a workspace from others, in seconds.
	lease = 20
	// poll is how often a workspace that is in use is asked for.
	poll = time.Second
)

//go:embed open.sh
var openScript string

// Open takes the workspace of an id, for a machine with a name of letters and digits; no two
// programs of one machine may do that at once. It waits for other machines. What is asked first takes
// no other script then, unless Apply was called before.
func (p *Place) Open(ctx context.Context, id, root, machine string, wait time.Duration, first Question) (*Workspace, error) {
	w := &Workspace{place: p, root: root, at: p.Folder + "/w-" + id, owner: machine + " " + word()}
	script := fmt.Sprintf("ws=%s\nroot=%s\nmachine=%s\nowner=%s\nlease=%d\n", quote(w.at), quote(root), quote(machine), quote(w.owner), lease) + openScript
	if first.script != "" {
		w.early = answer{question: first, mark: word(), copy: word()}
		script += "(\n" + asking(w.early.mark, w.early.copy) + first.script + ")\nprintf '\\n%s%s' " + w.early.mark + "= $?\n"
	}
	for end := time.Now().Add(wait); ; {
		out, code, err := p.run(ctx, script+"exit 0\n")
		if err != nil {
			return nil, err
		}
		if code != exitBusy {
			return w, w.parse(string(out))
		}
		if time.Now().After(end) {
			return nil, &BusyError{root}
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

var versionForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (w *Workspace) parse(said string) error {
	if w.early.question.script != "" {
		i := strings.LastIndex(said, "\n"+w.early.mark+"=")
		if i < 0 {
			return errSense
		}
		code, err := strconv.Atoi(said[i+len(w.early.mark)+2:])
		if err != nil {
			return errSense
		}
		w.early.code, said = code, said[:i]
	}
	lines := strings.SplitN(said, "\n", 3)
	if len(lines) < 3 {
		return errSense
	}
	if versionForm.MatchString(lines[0]) {
		w.Version = lines[0]
	}
	w.early.said = lines[2]
	switch lines[1] {
	case "there":
		w.There = true
	case "moved":
		return ErrMoved
	}
	return nil
}

// head begins a script that only the owner of the workspace may run.
func (w *Workspace) head() string {
	return "ws=" + quote(w.at) + "\nroot=" + quote(w.root) + "\nowner=" + quote(w.owner) + "\n" + ownScript + "own\n"
}

//go:embed own.sh
var ownScript string

// Names of the small files: the list, the ledger, the journal, packs of folder lists, and the
// indexes of contents.
var smallName = regexp.MustCompile(`^(snapshots\.json|ledger\.jsonl|restore\.json|packs/[0-9A-Za-z]+\.pack|contents/[0-9a-f]{16}\.index)$`)

// IsSmall reports whether a name is that of a small file.
func IsSmall(name string) bool { return smallName.MatchString(name) }

// Fetch returns all small files, by name.
func (w *Workspace) Fetch(ctx context.Context) (map[string][]byte, error) {
	out, _, err := w.place.run(ctx, w.head()+`cd -- "$ws" || exit
for f in snapshots.json ledger.jsonl restore.json packs/*.pack contents/*.index; do
	[ -f "$f" ] || continue
	n=$(wc -c <"$f") && printf '%s %s\n' "$f" $n && cat "$f" || exit 1
done`)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for len(out) > 0 {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		name, size, _ := strings.Cut(string(line), " ")
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n > len(rest) {
			return nil, errSense
		}
		if IsSmall(name) {
			files[name] = rest[:n:n]
		}
		out = rest[n:]
	}
	return files, nil
}

// Change is what becomes of the small files and of contents, in the order of the fields.
type Change struct {
	Keep   []*Copied // contents that were copied
	Write  []File
	Remove []string // small files
	// Drop are contents that nothing needs.
	Drop []Location
}

// File is a small file.
type File struct {
	Name string
	Data []byte
	// Append adds Data to what the file has, which is of Size bytes.
	Append bool
	Size   int64
}

// Publish makes a change and returns the version of the small files after it. Each file is the
// old or the new one, never a part.
func (w *Workspace) Publish(ctx context.Context, c Change) (version string, err error) {
	version = word()
	var b strings.Builder
	b.WriteString(w.head())
	fmt.Fprintf(&b, "cd -- \"$ws\" && mkdir -p -m 700 packs contents || exit\necho %s >version.tmp && mv -f version.tmp version || exit\n", version)
	for _, k := range c.Keep {
		k.finish(&b)
	}
	for i, f := range c.Write {
		if !IsSmall(f.Name) {
			return "", fmt.Errorf("%q is no file of the checkpoints", f.Name)
		}
		if i%50 == 49 {
			b.WriteString("own\n")
		}
		decode(&b, "new.tmp", f.Data)
		if f.Append {
			fmt.Fprintf(&b, "{ [ -f %[1]s ] || [ %[2]d -eq 0 ]; } && { cat %[1]s 2>/dev/null; cat new.tmp; } >all.tmp && mv -f all.tmp new.tmp || exit\n", f.Name, f.Size)
		}
		fmt.Fprintf(&b, "[ $(wc -c <new.tmp) -eq %d ] && mv -f new.tmp %s || exit\n", f.Size+int64(len(f.Data)), f.Name)
	}
	for _, name := range c.Remove {
		if IsSmall(name) {
			fmt.Fprintf(&b, "rm -f %s || exit\n", name)
			if pack, ok := strings.CutSuffix(name, ".index"); ok {
				fmt.Fprintf(&b, "rm -rf %s || exit\n", pack)
			}
		}
	}
	for part := range slices.Chunk(c.Drop, 200) {
		b.WriteString("own\nrm -f")
		for _, l := range part {
			b.WriteString(" " + quote("contents/"+string(l)))
		}
		b.WriteString(" || exit\n")
	}
	_, _, err = w.place.run(ctx, b.String())
	return version, err
}

// decode writes data to a file of the script's folder.
func decode(b *strings.Builder, name string, data []byte) {
	fmt.Fprintf(b, "base64 -d >%s <<'E' || exit\n%sE\n", name, base64Lines(data))
}

// base64Lines is data in base64, in lines that no shell minds.
func base64Lines(data []byte) string {
	var b strings.Builder
	for text := base64.StdEncoding.EncodeToString(data); len(text) > 0; {
		n := min(len(text), 1<<10)
		b.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return b.String()
}

// Remove removes the workspace with all that the place keeps of it.
func (w *Workspace) Remove(ctx context.Context) error {
	_, _, err := w.place.run(ctx, w.head()+"rm -f \"$ws/snapshots.json\" && rm -rf \"$ws\"")
	return err
}
