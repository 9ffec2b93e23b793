package script

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes"
)

// Transcripts says how scripts of Claude Code get a file of the conversation.
type Transcripts struct {
	// Folder is where the files are made, each in a folder of its own; "" makes none.
	Folder string
	// Read reads stored messages; see [hermes.Transcript].
	Read func(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error)
	// Version is that of this program.
	Version string
}

// Bounds of a file of a conversation. When it is longer, its oldest half is removed, but for the first message.
const (
	maxTranscript = 8 << 20
	maxLine       = 512 << 10
	maxLineText   = 64 << 10
	linesAtOnce   = 200
)

// keepLeft is how long a file stays that a session has left behind because its program was killed.
const keepLeft = 30 * 24 * time.Hour

// transcript is the file of the conversation of a session, in the form of Claude Code. It is written when a hook in that
// form starts, and then holds what is stored; it goes with the session. Its methods may be called concurrently.
type transcript struct {
	config *Config

	busy   chan struct{} // holds one element while the fields below are used
	closed bool

	path  string // "" before it is written
	last  int64  // the id of the last message in it
	prior string // the uuid of that message
	size  int64
	first []byte // its first line
}

// wanted reports whether there are files at all.
func (t *transcript) wanted() bool { return t.config.Transcripts.Folder != "" }

// folder is where the file of a session is.
func (t *transcript) folder() string {
	return filepath.Join(t.config.Transcripts.Folder, plainName(t.config.Session.ID))
}

// plainName is a name for a file. The ids of sessions are such names.
func plainName(id string) string {
	if id == "" || id != filepath.Base(id) || !filepath.IsLocal(id) {
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:8])
	}
	return id
}

// make makes the folder, so that it can be shown to commands before the first one runs.
func (t *transcript) make() (string, error) {
	dir := t.folder()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the conversation: %w", err)
	}
	return dir, nil
}

// update writes what was stored since, and returns the path of the file; "" where no such files are made.
func (t *transcript) update(ctx context.Context, ref hermes.SessionRef) (string, error) {
	if !t.wanted() {
		return "", nil
	}
	select {
	case t.busy <- struct{}{}:
		defer func() { <-t.busy }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if t.closed {
		return "", errClosed
	}
	if t.path == "" {
		dir, err := t.make()
		if err != nil {
			return "", err
		}
		t.sweep()
		t.path = filepath.Join(dir, plainName(ref.ID)+".jsonl")
		t.last = 0
	}
	if info, err := os.Lstat(t.path); err != nil || !info.Mode().IsRegular() || info.Size() != t.size {
		t.last = 0
	}
	if err := t.follow(ctx, ref); err != nil {
		if ctx.Err() == nil {
			t.last = 0 // the next one writes all of it again
		}
		return "", err // without time, the next one goes on from here
	}
	return t.path, nil
}

// follow appends the messages behind the last one. If that was undone, the file is written again.
func (t *transcript) follow(ctx context.Context, ref hermes.SessionRef) error {
	if t.last == 0 {
		if err := t.begin(); err != nil {
			return err
		}
	}
	for again := false; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r := hermes.Range{After: max(0, t.last-1), First: linesAtOnce, Raw: true}
		list, err := t.read(ctx, ref.ID, r)
		if err != nil {
			return err
		}
		more := len(list) == linesAtOnce
		if t.last > 0 {
			if len(list) == 0 || list[0].ID != t.last {
				if again {
					return errors.New("the conversation changes while it is read")
				}
				again = true
				if err := t.begin(); err != nil {
					return err
				}
				continue
			}
			list = list[1:]
		}
		if err := t.append(ref, list); err != nil || !more {
			return err
		}
	}
}

// begin makes the file empty.
func (t *transcript) begin() error {
	if _, err := t.make(); err != nil {
		return err
	}
	if err := replace(t.path, nil); err != nil {
		return err
	}
	t.last, t.prior, t.size, t.first = 0, "", 0, nil
	return nil
}

// replace writes a file in one step: who reads the old one goes on with that.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// read reads messages. A sample has two.
func (t *transcript) read(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error) {
	if session != sampleSession {
		return t.config.Transcripts.Read(ctx, session, r)
	}
	list := []hermes.Message{
		{ID: 1, Role: hermes.RoleUser, Turn: 1, Parts: []hermes.Part{{Text: "Hello"}}, Time: t.config.Now()},
		{ID: 2, Role: hermes.RoleAssistant, Turn: 1, Parts: []hermes.Part{{Text: "Hello, this is a sample."}}, Finish: hermes.FinishStop, Model: "sample", Usage: &hermes.Usage{Input: 1, Output: 1}, Time: t.config.Now()},
	}
	return list[min(len(list), int(r.After)):], nil
}

// append adds lines to the file, and shortens it if it is too long.
func (t *transcript) append(ref hermes.SessionRef, list []hermes.Message) error {
	if len(list) == 0 {
		return nil
	}
	var lines bytes.Buffer
	for _, m := range list {
		line, err := t.line(ref, m)
		if err != nil {
			return err
		}
		if t.first == nil && m.Role == hermes.RoleUser {
			t.first = line
		}
		lines.Write(line)
		t.last = m.ID
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	n, err := f.Write(lines.Bytes())
	t.size += int64(n)
	if err = errors.Join(err, f.Close()); err != nil || t.size <= maxTranscript {
		return err
	}
	return t.shorten()
}

// shorten removes the oldest half of the file, but for the first message of the user.
func (t *transcript) shorten() error {
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(-maxTranscript/2, io.SeekEnd); err != nil {
		return err
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxTranscript/2))
	if err != nil {
		return err
	}
	_, rest, _ = bytes.Cut(rest, []byte("\n")) // a part of a line
	content := append(bytes.Clone(t.first), rest...)
	if err := replace(t.path, content); err != nil {
		return err
	}
	t.size = int64(len(content))
	return nil
}

// sweep removes what programs have left behind that were killed long ago.
func (t *transcript) sweep() {
	list, err := os.ReadDir(t.config.Transcripts.Folder)
	if err != nil {
		return
	}
	for _, e := range list {
		folder := filepath.Join(t.config.Transcripts.Folder, e.Name())
		if e.IsDir() && t.config.Now().Sub(changed(folder)) > keepLeft && e.Name() != filepath.Base(t.folder()) {
			_ = os.RemoveAll(folder)
		}
	}
}

// changed returns when a folder or a file in it was last changed: what is appended changes the file alone.
func changed(folder string) (last time.Time) {
	names := []string{"."}
	list, _ := os.ReadDir(folder)
	for _, e := range list {
		names = append(names, e.Name())
	}
	for _, name := range names {
		if info, err := os.Lstat(filepath.Join(folder, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// close removes the file.
func (t *transcript) close() error {
	if !t.wanted() {
		return nil
	}
	t.busy <- struct{}{}
	defer func() { <-t.busy }()
	t.path, t.closed = "", true
	if err := os.RemoveAll(t.folder()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the file of the conversation for hooks: %w", err)
	}
	return nil
}

// line is a message in the form of Claude Code, with the end of the line.
func (t *transcript) line(ref hermes.SessionRef, m hermes.Message) ([]byte, error) {
	id := uuid(ref.ID, m.ID)
	line := map[string]any{
		"type": "user", "uuid": id, "parentUuid": nil, "isSidechain": t.config.Session.Child, "userType": "external", "sessionId": ref.ID, "cwd": ref.Dir,
		"version": t.config.Transcripts.Version, "gitBranch": "", "timestamp": m.Time.UTC().Format("2006-01-02T15:04:05.000Z"),
	}
	if t.prior != "" {
		line["parentUuid"] = t.prior
	}
	t.prior = id
	switch m.Role {
	case hermes.RoleAssistant:
		line["type"], line["message"] = "assistant", t.answer(ref, id, m)
	case hermes.RoleTool:
		line["message"] = map[string]any{"role": "user", "content": []any{map[string]any{
			"type": "tool_result", "tool_use_id": m.CallID, "content": t.text(m.Text()), "is_error": m.Failed,
		}}}
	default:
		line["message"] = map[string]any{"role": "user", "content": t.text(m.Visible())}
		if m.Synthetic {
			line["isMeta"] = true
		}
	}
	raw, err := json.Marshal(line)
	if err == nil && len(raw) > maxLine {
		line["message"] = map[string]any{"role": cmp.Or(map[hermes.Role]string{hermes.RoleAssistant: "assistant"}[m.Role], "user"), "content": []any{map[string]any{
			"type": "text", "text": "[This message is too long for this file.]",
		}}}
		raw, err = json.Marshal(line)
	}
	return append(raw, '\n'), err
}

// answer is a message of the model.
func (t *transcript) answer(ref hermes.SessionRef, id string, m hermes.Message) map[string]any {
	content := []any{}
	if text := m.Visible(); text != "" {
		content = append(content, map[string]any{"type": "text", "text": t.text(text)})
	}
	for _, c := range m.Calls {
		name, input := t.call(ref, c)
		content = append(content, map[string]any{"type": "tool_use", "id": c.ID, "name": name, "input": input})
	}
	u := hermes.Usage{}
	if m.Usage != nil {
		u = *m.Usage
	}
	stop := map[hermes.Finish]string{hermes.FinishCalls: "tool_use", hermes.FinishLength: "max_tokens", hermes.FinishFilter: "refusal"}[m.Finish]
	if len(m.Calls) > 0 {
		stop = cmp.Or(stop, "tool_use")
	}
	return map[string]any{
		"id": "msg_" + id, "type": "message", "role": "assistant", "model": m.Model, "content": content, "stop_reason": cmp.Or(stop, "end_turn"), "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite,
		},
	}
}

// call is a call in the names of Claude Code.
func (t *transcript) call(ref hermes.SessionRef, c hermes.ToolCall) (name string, input map[string]any) {
	raw := c.Arguments
	if masked := t.mask(raw); json.Valid([]byte(masked)) { // as a whole, since a name announces the secret behind it
		raw = masked
	}
	var args map[string]any
	_ = json.Unmarshal([]byte(raw), &args) // they are an object
	views := claudeViews(c.Name, args, func(path string) string {
		if filepath.IsAbs(path) || ref.Dir == "" {
			return path
		}
		return filepath.Join(ref.Dir, path)
	})
	in := args
	if len(views) == 1 { // a patch of several files is more
		in = views[0].input
	}
	if in == nil {
		in = map[string]any{}
	}
	return claudeName(c.Name, args).name, t.each(in).(map[string]any)
}

// each masks and shortens every text of a value.
func (t *transcript) each(v any) any {
	switch v := v.(type) {
	case string:
		return t.text(v)
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = t.each(one)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, one := range v {
			m[t.text(key)] = t.each(one)
		}
		return m
	}
	return v
}

func (t *transcript) mask(s string) string {
	if t.config.Mask == nil {
		return s
	}
	return t.config.Mask(s)
}

// text is a text without its secrets. Of a long one, the middle is left out.
func (t *transcript) text(s string) string {
	s = t.mask(s)
	if len(s) <= maxLineText {
		return s
	}
	return cutMiddle(s, maxLineText)
}

// cutMiddle keeps the beginning and the end of a text.
func cutMiddle(s string, most int) string {
	const mark = "\n[… shortened …]\n"
	half := (most - len(mark)) / 2
	return string(bytes.ToValidUTF8([]byte(s[:half]), nil)) + mark + string(bytes.ToValidUTF8([]byte(s[len(s)-half:]), nil))
}

// uuid names a message, always in the same way.
func uuid(session string, id int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", session, id))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
