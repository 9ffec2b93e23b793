package away

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/checkpoint/object"
	"hermes/internal/order"
)

// Location is where the place keeps a content: a path below its folder of contents.
type Location string

// Content is a content of the place.
type Content struct {
	Hash object.Hash
	Size int64
	At   Location
}

// Copied is what Copy or Ask made. Publish keeps it; what is not kept is removed when the workspace
// is opened again.
type Copied struct {
	// Files are the contents, by the path that was copied. Missing ones could not be read.
	Files map[string]Content
	id    string
	used  map[string]bool // the paths whose copies are needed
	made  bool            // the place has a folder for them
}

// Copy copies files of the tree beside the contents of the place. What a file is changed to
// later does not change its copy, and the hash is that of the copy.
func (w *Workspace) Copy(ctx context.Context, paths []string) (*Copied, error) {
	c := &Copied{Files: map[string]Content{}, id: word(), used: map[string]bool{}, made: true}
	bins := fill(paths)
	var b strings.Builder
	fmt.Fprintf(&b, "%sp=$ws/contents/%s.tmp\nmkdir -p -m 700 \"$ws/contents\" \"$p\" && cd -P -- \"$root\" || exit\n", w.head(), c.id)
	from := map[string]string{}
	for i, bin := range bins {
		name := strconv.Itoa(i)
		fmt.Fprintf(&b, "own\nmkdir \"$p/%s\" || exit\n", name)
		if len(bin) == 1 && !plain(bin[0]) {
			fmt.Fprintf(&b, "cp -P -- %s \"$p/%s/f\" 2>/dev/null\n", quote("./"+bin[0]), name)
			from[name+"/f"] = bin[0]
			continue
		}
		for part := range slices.Chunk(bin, 200) {
			b.WriteString("owned\ncp -P --")
			for _, f := range part {
				b.WriteString(" " + quote("./"+f))
				from[name+"/"+path.Base(f)] = f
			}
			fmt.Fprintf(&b, " \"$p/%s/\" 2>/dev/null\n", name)
		}
	}
	b.WriteString("cd -- \"$p\" || exit\n" + sumsScript + "own\n") // a file may have become something else meanwhile
	out, _, err := w.place.run(ctx, b.String())
	if err != nil {
		return nil, err
	}
	return c, c.parse(string(out), from)
}

//go:embed take.sh
var takeScript string

// sumsScript says what was copied to its folder: sizes, an empty line, and hashes.
//
//go:embed sums.sh
var sumsScript string

//go:embed known.sh
var knownScript string

// AskTake is for paths of the tree, without those that are missing. Files among them whose stamps are not
// the known ones are copied at once.
func AskTake(paths []string, known map[string]string) Question {
	return Question{look(paths) + take(paths, known), paths}
}

// take is the script that copies files whose stamps are not the known ones.
func take(paths []string, known map[string]string) string {
	if len(paths) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(takeScript)
	for i, p := range paths {
		fmt.Fprintf(&b, "take %d %s %s\n", i, quote("./"+p), quote(known[p]))
	}
	b.WriteString("printf '\\n%sk' \"$mark\"\nif cd -- \"$p\" 2>/dev/null; then\n" + sumsScript + knownScript + "fi\ntrue\n")
	return b.String()
}

// copiedBy is what an answer says of copies.
func copiedBy(a answer, said string) (*Copied, error) {
	c := &Copied{Files: map[string]Content{}, id: a.copy, used: map[string]bool{}}
	from := map[string]string{}
	for i, p := range a.question.takes {
		from[strconv.Itoa(i)+"/f"] = p
	}
	err := c.parse(said, from)
	for _, f := range c.Files {
		c.made = c.made || f.At != ""
	}
	return c, err
}

// parse reads what a script said of the copies, whose names are those of from.
func (c *Copied) parse(out string, from map[string]string) error {
	sizes, sums, ok := strings.Cut(out, "\n\n")
	if !ok {
		return nil // none could be read
	}
	sums, known, _ := strings.Cut(sums, "\n\n")
	size := map[string]int64{}
	for line := range strings.Lines(sizes) {
		n, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if s, err := strconv.ParseInt(n, 10, 64); err == nil {
			size[pathOf(name)] = s
		}
	}
	for line := range strings.Lines(sums) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) < 66 {
			return errSense
		}
		var h object.Hash
		if h.UnmarshalText([]byte(line[:64])) != nil {
			return errSense
		}
		name := pathOf(line[66:])
		f, asked := from[name]
		n, known := size[name]
		if asked && known {
			c.Files[f] = Content{Hash: h, Size: n, At: Location(c.id + "/" + name)}
		}
	}
	for name := range strings.Lines(known) {
		f := from[pathOf(strings.TrimSuffix(name, "\n"))]
		if is, ok := c.Files[f]; ok {
			is.At = ""
			c.Files[f] = is
		}
	}
	return nil
}

// plain reports whether a name is printed by sha256sum and stat as it is.
func plain(p string) bool { return !strings.ContainsAny(path.Base(p), "\n\\\r") }

// fill sorts paths into bins in which no two have the same name, and each name that is not
// plain into one of its own.
func fill(paths []string) [][]string {
	var bins [][]string
	var own [][]string
	used := map[string]int{}
	for _, p := range paths {
		if !plain(p) {
			own = append(own, []string{p})
			continue
		}
		name := strings.ToLower(path.Base(p)) // some file systems know no case
		n := used[name]
		used[name]++
		if n == len(bins) {
			bins = append(bins, nil)
		}
		bins[n] = append(bins[n], p)
	}
	return append(bins, own...)
}

// Use says that the copy of a path is needed. Others are removed.
func (c *Copied) Use(p string) { c.used[p] = true }

// Made reports whether the place has a folder of copies, to be published or discarded.
func (c *Copied) Made() bool { return c.made }

// Discard removes copies that were not published.
func (w *Workspace) Discard(ctx context.Context, list []*Copied) {
	var b strings.Builder
	b.WriteString(w.head())
	for _, c := range list {
		fmt.Fprintf(&b, "rm -rf \"$ws/contents/%s.tmp\"\n", c.id)
	}
	_, _, _ = w.place.run(ctx, b.String())
}

// Index is the name and the text of the small file that makes what was copied count; ok is
// false if nothing is left of it.
func (c *Copied) Index() (name string, text []byte, ok bool) {
	var list []Content
	for p, f := range c.Files {
		if c.used[p] {
			list = append(list, f)
		}
	}
	return "contents/" + c.id + ".index", EncodeIndex(list), len(list) > 0
}

// finish writes the lines that give what was copied its name, before its index is written.
func (c *Copied) finish(b *strings.Builder) {
	if len(c.used) == 0 {
		fmt.Fprintf(b, "rm -rf contents/%s.tmp\n", c.id)
		return
	}
	var gone []string
	for p, f := range c.Files {
		if !c.used[p] && f.At != "" {
			gone = append(gone, strings.TrimPrefix(string(f.At), c.id+"/"))
		}
	}
	for part := range slices.Chunk(gone, 200) {
		b.WriteString("rm -f")
		for _, name := range part {
			b.WriteString(" " + quote("contents/"+c.id+".tmp/"+name))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "mv -f contents/%[1]s.tmp contents/%[1]s || exit\n", c.id)
}

// EncodeIndex writes an index: a line for each content.
func EncodeIndex(list []Content) []byte {
	order.By(list, func(a, b Content) int { return strings.Compare(string(a.At), string(b.At)) })
	var b bytes.Buffer
	for _, c := range list {
		fmt.Fprintf(&b, "%s %d %s\n", c.Hash, c.Size, c.At)
	}
	return b.Bytes()
}

// DecodeIndex reads an index with a name. Lines that make no sense are skipped: what they had
// is missing then.
func DecodeIndex(name string, text []byte) []Content {
	id := strings.TrimSuffix(path.Base(name), ".index")
	var list []Content
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		words := strings.SplitN(line, " ", 3)
		var c Content
		if len(words) < 3 || len(words[0]) != 64 || c.Hash.UnmarshalText([]byte(words[0])) != nil {
			continue
		}
		size, err := strconv.ParseInt(words[1], 10, 64)
		if err != nil || size < 0 || !strings.HasPrefix(words[2], id+"/") || path.Clean(words[2]) != words[2] {
			continue
		}
		c.Size, c.At = size, Location(words[2])
		list = append(list, c)
	}
	return list
}

// Contents returns contents of the place, by hash. What is missing or is not as it was is
// not returned.
func (w *Workspace) Contents(ctx context.Context, list []Content) (map[object.Hash][]byte, error) {
	var b strings.Builder
	b.WriteString(w.head() + `cd -- "$ws/contents" || exit 0
give() { # also what is not published yet
	[ -f "$1" ] || set -- "${1%%/*}.tmp/${1#*/}" "$2"
	[ -f "$1" ] && [ "$(wc -c <"$1")" -eq $2 ] && echo 1 && cat "$1" || echo 0
}
`)
	for _, c := range list {
		fmt.Fprintf(&b, "give %s %d\n", quote(string(c.At)), c.Size)
	}
	out, _, err := w.place.run(ctx, b.String())
	if err != nil {
		return nil, err
	}
	got := map[object.Hash][]byte{}
	for _, c := range list {
		mark, rest, ok := bytes.Cut(out, []byte("\n"))
		if !ok {
			break
		}
		if out = rest; string(mark) != "1" {
			continue
		}
		if c.Size > int64(len(out)) {
			return nil, errSense
		}
		data := out[:c.Size:c.Size]
		out = out[c.Size:]
		if object.HashOf(data) == c.Hash {
			got[c.Hash] = data
		}
	}
	return got, nil
}
