package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"hermes"
	"hermes/internal/lint"
	"hermes/internal/patch"
	"hermes/internal/text"
)

// maxShownDiff bounds the diffs in results, in bytes.
const maxShownDiff = 20_000

// A write is a file that is about to get new content.
type write struct {
	location
	old, new string
	existed  bool
	unread   bool // old could not be read
	whole    bool // new is not made from old
	noted    []attribute
}

// before is the text that the file had, nil if it is not known.
func (w write) before() *string {
	if w.unread {
		return nil
	}
	return &w.old
}

// stillFree reports an error if a file that is to be new is there by now. That is
// also so if it is one file with another new one, by the rules of the disk.
func (w write) stillFree(ctx context.Context) error {
	if w.existed {
		return nil
	}
	if _, err := w.files.Stat(ctx, w.real); err == nil {
		return fmt.Errorf("%s has just appeared and was not replaced: another program made it, or it is the same file as one that this patch made; read it and try again", w.path)
	}
	return nil
}

// restore gives a file the text that it had before, or deletes it.
func (w write) restore(ctx context.Context) error {
	if !w.existed {
		return w.files.Remove(ctx, w.real)
	}
	mode := fs.FileMode(0) // the usual one
	if w.info != nil {
		mode = w.info.Mode().Perm()
	}
	if err := w.files.Write(ctx, w.real, []byte(w.old), mode); err != nil || len(w.noted) == 0 {
		return err
	}
	info, err := w.files.Stat(ctx, w.real)
	if err == nil && len(w.keep(w.real, w.noted, w.info, info)) > 0 {
		return errors.New("its attributes were lost")
	}
	return err
}

// changed is the part of a result that says what happened to the files.
type changed struct {
	Modified []string                `json:"files_modified,omitempty"`
	Created  []string                `json:"files_created,omitempty"`
	Deleted  []string                `json:"files_deleted,omitempty"`
	Lint     map[string]*lint.Result `json:"lint,omitempty"`
	Warning  string                  `json:"_warning,omitempty"`
}

// write writes the content to the file and notes what the model needs to know.
// The caller holds the path's lock.
func (t *Toolset) write(ctx context.Context, session string, w write, done *changed) error {
	all := w.whole || !w.existed || t.ledger.knows(session, w.location, w.before())
	if w.existed && w.new == w.old && !w.unread {
		t.ledger.wrote(session, w.real, w.info, &w.new, all)
		done.Modified = append(done.Modified, w.path)
		return nil
	}
	if err := t.mayReplace(ctx, session, w, done); err != nil {
		return err
	}
	if err := t.checkMasks(w); err != nil {
		return err
	}
	if err := w.files.Write(ctx, w.real, []byte(w.new), 0); err != nil {
		return w.failure("write", err)
	}
	info, err := w.files.Stat(ctx, w.real)
	if err != nil {
		return w.failure("stat", err)
	}
	t.ledger.wrote(session, w.real, info, &w.new, all)
	done.warn(notKept(w.path, w.keep(w.real, w.noted, w.info, info)))
	if n := hardLinks(w.info); n > 1 {
		done.warn(fmt.Sprintf("%s has %s (hard links), which keep the old text", w.path, text.Plural(n-1, "other name", "other names")))
	}
	if w.existed {
		done.Modified = append(done.Modified, w.path)
	} else {
		done.Created = append(done.Created, w.path)
	}
	done.lint(w.path, lint.Check(w.path, w.old, w.new))
	return nil
}

// mayReplace refuses to replace text that the session has not seen, and warns of what it should look at. A
// change that was made from the text as it is now loses nothing.
func (t *Toolset) mayReplace(ctx context.Context, session string, w write, done *changed) error {
	if t.config.TrustWrites || !w.existed {
		return nil
	}
	stale := t.ledger.stale(session, w.location, w.before())
	switch {
	case !w.whole && stale != "":
		done.warn(stale + "; read it and check that no change is lost")
	case stale != "":
		return fmt.Errorf("not written: %s. Read it again, keep what you did not change, and then write it, or change only a part with patch", stale)
	}
	if w.whole {
		if unseen := t.unseen(ctx, session, w); unseen != "" {
			return fmt.Errorf("not written: %s", unseen)
		}
	}
	if stale == "" {
		done.warn(t.ledger.shared(session, w.location))
	}
	return nil
}

// unseen says what a session has not seen of a text that is about to be replaced, and what to do, or "".
// Files that are no text count as seen.
func (t *Toolset) unseen(ctx context.Context, session string, w write) string {
	if w.info == nil || w.info.Size() == 0 || w.checkReadable(ctx) != nil {
		return ""
	}
	head := w.old
	if w.unread {
		head = w.head(ctx)
	}
	head = head[:min(len(head), headSize)]
	wide := utf16Text(head)
	if !wide && strings.ContainsRune(head, 0) {
		return ""
	}
	unseen := t.ledger.unseen(session, w.location)
	switch {
	case unseen == "":
		return ""
	case wide:
		return fmt.Sprintf("%s exists with %d bytes of UTF-16 text, which read_file does not show. If it is to be replaced, first move it away or delete it with a command", w.path, w.info.Size())
	case w.unread:
		return fmt.Sprintf("%s exists with %d bytes that you have not read in this session, more than this tool reads at once. If it is to be replaced, first move it away or delete it with a command", w.path, w.info.Size())
	}
	return unseen + ", or change only a part with patch"
}

// remove deletes a file. The caller holds the path's lock.
func (t *Toolset) remove(ctx context.Context, session string, p write, done *changed) error {
	if !t.config.TrustWrites {
		if stale := t.ledger.stale(session, p.location, p.before()); stale != "" {
			return fmt.Errorf("not deleted: %s. Read it again, and then delete it", stale)
		}
		done.warn(t.ledger.shared(session, p.location))
	}
	if err := p.files.Remove(ctx, p.real); err != nil {
		return p.failure("delete", err)
	}
	t.ledger.wrote(session, p.real, nil, nil, false)
	done.Deleted = append(done.Deleted, p.path)
	return nil
}

func (c *changed) warn(text string) {
	if text == "" {
		return
	}
	c.Warning = strings.TrimPrefix(c.Warning+"; "+text, "; ")
}

// join adds what happened to another file.
func (c *changed) join(other changed) {
	c.Modified = append(c.Modified, other.Modified...)
	c.Created = append(c.Created, other.Created...)
	c.Deleted = append(c.Deleted, other.Deleted...)
	c.warn(other.Warning)
	for path, l := range other.Lint {
		c.lint(path, l)
	}
}

func (c *changed) lint(path string, l *lint.Result) {
	if l == nil {
		return
	}
	if c.Lint == nil {
		c.Lint = map[string]*lint.Result{}
	}
	c.Lint[path] = l
}

// diffOf shows a change to the user and the model.
func diffOf(p location, old, new string, existed, exists bool) string {
	path := p.short()
	before, after := "a/"+strings.TrimPrefix(path, "/"), "b/"+strings.TrimPrefix(path, "/")
	if !existed {
		before = "/dev/null"
	}
	if !exists {
		after = "/dev/null"
	}
	return strings.ToValidUTF8(patch.Unified(before, after, old, new), "\ufffd")
}

func clipDiff(diff string) string {
	if len(diff) <= maxShownDiff {
		return diff
	}
	cut := strings.LastIndexByte(diff[:maxShownDiff], '\n') + 1
	return diff[:cut] + fmt.Sprintf("… [%d more bytes of diff not shown]\n", len(diff)-cut)
}

// checkContent refuses content that was copied from results of read_file with
// its line numbers or notices.
func checkContent(content string) error {
	if strings.Contains(content, noticeUnchanged) && len(content) < 4*len(noticeUnchanged) {
		return errors.New("content is the notice that a file is unchanged, not the file's text: send the real content")
	}
	if numbered(content) {
		return errors.New("content looks like read_file output with line numbers (1|…): send the text without them. If the file must look like this, write it with the terminal tool")
	}
	return nil
}

// numbered reports whether every line that is not blank begins with a bar after
// a number one higher than the line before. A single line is not enough.
func numbered(content string) bool {
	seen, last := 0, 0
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		digits := strings.IndexByte(line, '|')
		if digits < 1 || digits > 9 {
			return false
		}
		n := 0
		for _, c := range line[:digits] {
			if c < '0' || c > '9' {
				return false
			}
			n = n*10 + int(c-'0')
		}
		if seen > 0 && n != last+1 {
			return false
		}
		seen, last = seen+1, n
	}
	return seen >= 2
}

// sessionOf returns the session ID of a call.
func sessionOf(c *hermes.Call) string { return c.Host.Session().ID }
