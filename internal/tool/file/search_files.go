package file

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/search"
	"hermes/internal/text"
)

const (
	nameSearch = "search_files"
	// maxSearch bounds how long a search takes.
	maxSearch = 60 * time.Second
	// maxFound and maxContext bound one page of results.
	maxFound, maxContext = 500, 20
	// maxResult bounds the text of a page, in bytes.
	maxResult = 40_000
)

//go:embed search_files.md
var searchDoc string

type searchArgs struct {
	Pattern    string  `json:"pattern"`
	Target     string  `json:"target,omitempty" enum:"content,files" default:"content"`
	Path       string  `json:"path,omitempty" default:"."`
	FileGlob   string  `json:"file_glob,omitempty" doc:"Such as *.{ts,tsx}"`
	OutputMode string  `json:"output_mode,omitempty" enum:"content,files_only,count" default:"content"`
	Context    *number `json:"context,omitempty" doc:"Lines"`
	Limit      *number `json:"limit,omitempty" default:"50"`
	Offset     *number `json:"offset,omitempty"`
}

// searchResult is what the model reads. One of Matches, Files and Counts is set.
type searchResult struct {
	Matches    []match   `json:"matches,omitempty"`
	Files      []string  `json:"files,omitempty"`
	Counts     []counted `json:"counts,omitempty"`
	TotalCount int       `json:"total_count"`
	Truncated  bool      `json:"truncated"`
	NextOffset int       `json:"next_offset,omitempty"`
	Note       string    `json:"note,omitempty"`
	Omitted    string    `json:"_omitted,omitempty"`
	Warning    string    `json:"_warning,omitempty"`
}

type match struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Content string `json:"content"`
}

type counted struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

func (t *Toolset) searchFiles() hermes.Tool {
	return hermes.NewTool(hermes.Spec{
		Name:        nameSearch,
		Description: strings.TrimSpace(searchDoc),
		Mode:        hermes.ModeParallel,
		Effect:      hermes.EffectNone,
		CanOmit:     true,
	}, t.runSearch)
}

func (t *Toolset) runSearch(ctx context.Context, c *hermes.Call, in searchArgs) (hermes.Result, error) {
	if in.Path == "" {
		in.Path = "."
	}
	p, err := t.locate(ctx, c.Host, in.Path)
	if err != nil {
		return hermes.Result{}, err
	}
	if err := checkSearchable(ctx, p); err != nil {
		return hermes.Result{}, err
	}
	q, note, err := in.query(p)
	if err != nil {
		return hermes.Result{}, err
	}
	if omit := q.Omit; c.Omits != nil {
		q.Omit = func(path string) bool { return omit(path) || c.Omits(path) }
	}
	searching, stop := context.WithTimeout(ctx, maxSearch)
	defer stop()
	var found search.Found
	if here, ok := p.files.(hermes.HostFiles); ok && here.OnHost() {
		found, err = search.Search(searching, q)
	} else {
		if q.Context > 0 {
			note = "this environment gives no context lines: read the lines with read_file"
		}
		found, err = remoteSearch(searching, c.Host.Environment(), q, in)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, atomicfile.ErrLink) {
		return hermes.Result{}, p.failure("search", hermes.ErrLink)
	}
	if err != nil {
		return hermes.Result{}, fmt.Errorf("search %s: %w", p.path, err)
	}
	out := in.page(p, found)
	out.note(note)
	result, err := hermes.JSONResult(out)
	if err != nil {
		return hermes.Result{}, err
	}
	if c.Invoked() { // a script may ask as often as it likes
		return result, nil
	}
	out.Warning, err = t.ledger.search(sessionOf(c), p.real+string(c.Arguments), sha256.Sum256([]byte(result.Text)))
	switch {
	case err != nil:
		return hermes.Result{}, err
	case out.Warning != "":
		return hermes.JSONResult(out)
	}
	return result, nil
}

func checkSearchable(ctx context.Context, p location) error {
	if v := p.readVerdict(); v.Deny {
		return fmt.Errorf("%s: %s", p.path, v.Reason)
	}
	if p.info == nil {
		return p.notFound(ctx)
	}
	if p.info.IsDir() && search.Pseudo(p.real) {
		return fmt.Errorf("%s is not searched, because the kernel generates its files and some never end: read one of them by name", p.path)
	}
	if mode := p.info.Mode(); !mode.IsDir() && mode&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0 {
		return fmt.Errorf("%s is not a folder or a regular file: choose another path", p.path)
	}
	return nil
}

// byName reports whether the call looks for files by name.
func (in searchArgs) byName() bool { return in.Target == "files" || in.Target == "find" }

// query makes the search that the call asks for. The note says where the
// pattern was not used as written.
func (in searchArgs) query(p location) (q search.Query, note string, err error) {
	q = search.Query{
		Root:      p.real,
		Name:      search.NewGlob(in.FileGlob),
		Context:   in.Context.within(0, 0, maxContext),
		CountOnly: in.OutputMode == "count" || in.OutputMode == "files_only",
		Omit:      func(path string) bool { return p.rules.Read(path).Deny },
	}
	if in.byName() {
		if in.Pattern != "" && in.Pattern != "*" {
			q.Name = nameGlob(in.Pattern)
		}
		return q, "", nil
	}
	if in.Pattern == "" {
		return q, "", errors.New("pattern is empty: send the text or regular expression to find, or use target files to list files")
	}
	q.Lines, err = search.NewMatcher(in.Pattern)
	if err == nil {
		return q, "", nil
	}
	if strings.Contains(in.Pattern, "(?") || strings.Contains(in.Pattern, `\1`) {
		return q, "", fmt.Errorf("pattern is %w. Look-around and back-references are not supported: search for a simpler pattern and read the lines found", err)
	}
	q.Lines = search.NewTextMatcher(in.Pattern)
	return q, "the pattern is not a valid regular expression and was searched as plain text", nil
}

// nameGlob makes a glob from what models write to find files. A bare word
// matches names that contain it.
func nameGlob(pattern string) search.Glob {
	if strings.ContainsAny(pattern, "*?[{") {
		return search.NewGlob(pattern)
	}
	pattern = strings.TrimSuffix(pattern, "/")
	dir, name := "", pattern
	if i := strings.LastIndexByte(pattern, '/'); i >= 0 {
		dir, name = pattern[:i+1], pattern[i+1:]
	}
	if strings.HasPrefix(name, ".") {
		return search.NewGlob(dir + name + "*").Fold()
	}
	return search.NewGlob(dir + "*" + name + "*").Fold()
}

// page returns the requested page of what was found.
func (in searchArgs) page(p location, found search.Found) searchResult {
	limit, offset := in.Limit.within(50, 1, maxFound), in.Offset.within(0, 0, maxOffset)
	shown := shownPaths(p)
	var out searchResult
	add := func(text int, put func()) { // one item of the whole list, if it is on the page
		if i := out.TotalCount; i >= offset && i < offset+limit && !out.Truncated {
			if out.size(text) {
				put()
			} else {
				out.Truncated, out.NextOffset = true, i
			}
		}
		out.TotalCount++
	}
	for _, f := range found.Files {
		path := shown(f.Path)
		switch {
		case in.byName() || in.OutputMode == "files_only":
			add(len(path), func() { out.Files = append(out.Files, path) })
		case in.OutputMode == "count":
			add(len(path), func() { out.Counts = append(out.Counts, counted{path, f.Matches}) })
		default:
			for _, l := range f.Lines {
				text := withContext(l)
				add(len(path)+len(text), func() { out.Matches = append(out.Matches, match{path, l.Number, text}) })
			}
		}
	}
	if end := offset + limit; !out.Truncated && out.TotalCount > end {
		out.Truncated, out.NextOffset = true, end
	}
	if found.Partial {
		out.Truncated = true
		out.note("the search stopped at its limits and there may be more: narrow path or file_glob")
	}
	if found.Denied > 0 {
		out.note(text.Plural(found.Denied, "file or folder", "files or folders") + " could not be read")
	}
	if found.Omitted > 0 {
		out.Omitted = text.Plural(found.Omitted, "file that may not be read was", "files that may not be read were") + " not searched"
	}
	if out.TotalCount == 0 {
		out.note("nothing found" + in.hint())
	}
	return out
}

// size reports whether n more bytes fit on the page. The first item always
// fits.
func (r *searchResult) size(n int) bool {
	used := 0
	for _, m := range r.Matches {
		used += len(m.Path) + len(m.Content) + 40
	}
	return used == 0 || used+n <= maxResult
}

func (r *searchResult) note(text string) {
	if text != "" {
		r.Note = strings.TrimPrefix(r.Note+"; "+text, "; ")
	}
}

// hint says what to try when nothing was found.
func (in searchArgs) hint() string {
	if in.byName() {
		return ": try a shorter pattern such as *word*; ignored and hidden files are searched only if path names them"
	}
	return ": try a simpler pattern, (?i) to ignore case, or another path; ignored and hidden files are searched only if path names them"
}

// withContext returns a match's line with its context lines, as grep shows them.
func withContext(l search.Line) string {
	if len(l.Before)+len(l.After) == 0 {
		return l.Text
	}
	var out strings.Builder
	for i, text := range l.Before {
		fmt.Fprintf(&out, "%d-%s\n", l.Number-len(l.Before)+i, text)
	}
	fmt.Fprintf(&out, "%d:%s", l.Number, l.Text)
	for i, text := range l.After {
		fmt.Fprintf(&out, "\n%d-%s", l.Number+1+i, text)
	}
	return out.String()
}

// shownPaths returns the function that formats found paths: relative if they
// are below the current folder, else absolute. Found paths have their links
// resolved; they are shown under the path that was asked for.
func shownPaths(p location) func(string) string {
	return func(path string) string {
		if rest, ok := strings.CutPrefix(path, p.real); ok {
			path = p.path + rest
		}
		return shorten(p.files, path)
	}
}
