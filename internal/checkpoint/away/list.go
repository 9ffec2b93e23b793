package away

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"hermes/internal/shellstate"
)

// Entry is a file, folder, link or something else in a tree.
type Entry struct {
	Path   string // in the folder, with slashes; "." is itself
	Mode   fs.FileMode
	Size   int64
	Target string // of a link
	// Stamp changes when the file changes, unless Fresh, since the place's clock is coarse.
	Stamp string
	Fresh bool
	// Closed is a folder that cannot be listed.
	Closed bool
}

// Tree is what a script said of a folder.
type Tree struct {
	// Entries has folders before what is in them.
	Entries []Entry
	// Ignore has the texts of files with rules what is ignored, by the absolute path of the
	// folder that they are for, those above the folder first.
	Ignore []Rules
	copies string // what was said of copies
}

// Rules are the text of a file with rules what is ignored.
type Rules struct{ Folder, Text string }

// coarse is the time in seconds in which a file can change without another stamp.
const coarse = 3

const (
	// form is what stat says of a file, behind a mark.
	form = "|" + stampForm + "|%n"
	// stampForm is the stamp in it.
	stampForm = `%f|%s|%Y|%Z|%y|%z`
)

// A Question is what a script lists of a workspace and copies at once. One can be asked already while the
// workspace is opened. The zero value asks nothing.
type Question struct {
	script string
	takes  []string // the paths that it may copy
}

//go:embed folders.sh
var foldersScript string

//go:embed above.sh
var aboveScript string

// AskFolders is for the folders of the tree and its .gitignore files, with the rules from above, first that of
// the repository's own list.
func AskFolders(repositories []string) Question {
	return Question{script: "names=" + quote(orList("-name", repositories)) + "\n" + foldersScript + aboveScript}
}

//go:embed tree.sh
var treeScript string

// MaxSkip is the most folders that AskList leaves out: a longer list would be too much for find.
const MaxSkip = 500

// AskList is for the tree, without what is in the folders skip or in those with the names of repositories, and
// for the rules from above. Files that are likely to have changed are copied as those of AskTake are.
func AskList(repositories, skip, likely []string, known map[string]string) Question {
	var paths []string
	for _, p := range skip[:min(len(skip), MaxSkip)] {
		paths = append(paths, "./"+p)
	}
	names := orList("-name", repositories)
	if len(paths) > 0 {
		names += " -o " + orList("-path", paths)
	}
	return Question{"names=" + quote(names) + "\n" + treeScript + aboveScript + take(likely, known), likely}
}

// Ask asks a question. Of files that were copied, contents that the place has already have no At.
func (w *Workspace) Ask(ctx context.Context, q Question) (Tree, *Copied, error) {
	t, a, err := w.list(ctx, q)
	if err != nil {
		return Tree{}, nil, err
	}
	c, err := copiedBy(a, t.copies)
	return t, c, err
}

// Read returns the texts of .gitignore files in folders of the tree.
func (w *Workspace) Read(ctx context.Context, folders []string) ([]Rules, error) {
	var b strings.Builder
	for _, f := range folders {
		fmt.Fprintf(&b, "rules %s\n", quote(w.root+"/"+f))
	}
	t, _, err := w.list(ctx, Question{script: "printf '%s.' \"$mark\"\n" + b.String()})
	return t.Ignore, err
}

// Look lists paths of the tree, without those that are missing.
func (w *Workspace) Look(ctx context.Context, paths []string) (Tree, error) {
	t, _, err := w.list(ctx, Question{script: look(paths)})
	return t, err
}

func look(paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "find %s -prune -exec stat -c \"$form\" {} + 2>/dev/null\n", quote("./"+p))
	}
	b.WriteString("printf '%s.' \"$mark\"\n")
	for _, p := range paths {
		fmt.Fprintf(&b, "link %s\n", quote("./"+p))
	}
	return b.String()
}

// orList is an expression of find: one of the patterns.
func orList(test string, names []string) string {
	var parts []string
	for _, n := range names {
		parts = append(parts, test+" "+quote(escape.Replace(n)))
	}
	return strings.Join(parts, " -o ")
}

var escape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

//go:embed list.sh
var listScript string

// asking is what a script needs to answer a question. copy names what it may copy.
func asking(mark, copy string) string {
	return "mark=" + mark + "\ncopy=" + copy + "\nform=" + quote(mark+form) + "\nstamp=" + quote(stampForm) + "\n" + listScript
}

// An answer is what a script said.
type answer struct {
	question   Question
	mark, copy string
	said       string
	code       int
}

// list asks a question, unless it was answered when the workspace was opened.
func (w *Workspace) list(ctx context.Context, q Question) (Tree, answer, error) {
	a := w.early
	w.early = answer{}
	if a.question.script != q.script || a.code != 0 && a.code != exitMissing {
		a = answer{question: q, mark: word(), copy: word()}
		out, code, err := w.place.run(ctx, w.head()+asking(a.mark, a.copy)+q.script)
		if err != nil {
			return Tree{}, a, err
		}
		a.said, a.code = string(out), code
	}
	if a.code == exitMissing {
		return Tree{}, a, fs.ErrNotExist
	}
	t, err := parseTree(a.said, a.mark)
	return t, a, err
}

// parseTree reads the answer: the time, lines of stat, the mark with a point, then records
// of a letter and a text, each behind a line break and the mark.
func parseTree(out, mark string) (Tree, error) {
	first, out, _ := strings.Cut(out, "\n")
	now, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return Tree{}, errSense
	}
	stats, records, ok := strings.Cut("\n"+out, "\n"+mark+".")
	if !ok {
		return Tree{}, errSense
	}
	var t Tree
	at := map[string]int{}
	for _, text := range strings.Split(stats, "\n"+mark+"|") {
		if text == "" {
			continue
		}
		e, err := parseEntry(text, now)
		if err != nil {
			return Tree{}, err
		}
		if _, twice := at[e.Path]; twice {
			continue
		}
		at[e.Path] = len(t.Entries)
		t.Entries = append(t.Entries, e)
	}
	last := ""
	for _, text := range strings.Split(records, "\n"+mark)[1:] {
		if text == "" {
			return Tree{}, errSense
		}
		kind, text := text[0], text[1:]
		i, known := at[pathOf(text)]
		switch {
		case kind == 'c' && known:
			t.Entries[i].Closed = true
		case kind == 'l' || kind == 'a':
			last = text
		case kind == 't':
			if i, ok := at[pathOf(last)]; ok {
				t.Entries[i].Target = strings.TrimSuffix(text, "\n")
			}
		case kind == 'r':
			t.Ignore = append(t.Ignore, Rules{last, text})
		case kind == 'k':
			t.copies = text
		}
	}
	return t, nil
}

// pathOf is the path that find gave, in the folder.
func pathOf(found string) string {
	if found == "." || found == "./." {
		return "."
	}
	return strings.TrimPrefix(found, "./")
}

func parseEntry(text string, now int64) (Entry, error) {
	fields := strings.SplitN(text, "|", 7)
	if len(fields) < 7 {
		return Entry{}, errSense
	}
	mode, errM := strconv.ParseUint(fields[0], 16, 32)
	size, errS := strconv.ParseInt(fields[1], 10, 64)
	modified, errY := strconv.ParseInt(fields[2], 10, 64)
	changed, errZ := strconv.ParseInt(fields[3], 10, 64)
	if errM != nil || errS != nil || errY != nil || errZ != nil || size < 0 {
		return Entry{}, errSense
	}
	e := Entry{Path: pathOf(fields[6]), Mode: shellstate.FileMode(mode), Size: size, Stamp: strings.Join(fields[:6], "|")}
	e.Fresh = max(modified, changed) > now-coarse
	if e.Path != "." && !fs.ValidPath(strings.ToValidUTF8(e.Path, "x")) {
		return Entry{}, errSense
	}
	return e, nil
}

// octal is a mode as chmod takes it.
func octal(mode fs.FileMode) string {
	n := uint64(mode.Perm())
	for bit, flag := range map[uint64]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&flag != 0 {
			n |= bit
		}
	}
	return strconv.FormatUint(n, 8)
}
