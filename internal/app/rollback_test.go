package app_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/checkpoint"
	"hermes/internal/protocol"
)

// command runs a slash command as a frontend does and returns its outcome.
func (s *scene) command(line string) hermes.CommandDone {
	s.t.Helper()
	if s.app == nil {
		s.enter()
	}
	if err := s.app.Local(nil).Command(s.t.Context(), s.session, user, line); err != nil {
		s.t.Fatal(err)
	}
	late := time.After(2 * time.Minute)
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				s.t.Fatal("the session ended")
			}
			if done, ok := e.(hermes.CommandDone); ok && done.Line == line {
				return done
			}
		case <-late:
			s.t.Fatal("the command does not end")
		}
	}
}

// agreed runs a command and says yes to its question.
func (s *scene) agreed(line string) hermes.CommandDone {
	s.t.Helper()
	asked := s.command(line)
	if asked.Confirm == "" {
		s.t.Fatalf("%s did not ask: %+v", line, asked)
	}
	done := s.command(asked.ConfirmLine)
	if done.Failure != nil || done.Confirm != "" {
		s.t.Fatalf("%s: %+v", asked.ConfirmLine, done)
	}
	return done
}

func (s *scene) file(name string) string {
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return "none"
	}
	return string(data)
}

// messages are those of the transcript.
func (s *scene) messages() []hermes.Message {
	s.t.Helper()
	db, err := s.app.Database(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	list, err := db.Messages(s.t.Context(), s.session, hermes.Range{})
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// said are the messages of the user in the transcript.
func (s *scene) said() []string {
	s.t.Helper()
	var out []string
	for _, m := range s.messages() {
		if m.Role == hermes.RoleUser {
			first, _, _ := strings.Cut(m.Visible(), "\n")
			out = append(out, first)
		}
	}
	return out
}

func (s *scene) store() *checkpoint.Store {
	s.t.Helper()
	store, err := s.app.Checkpoints()
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

func (s *scene) writes(said, name, content string) {
	s.t.Helper()
	raw, _ := json.Marshal(map[string]string{"path": name, "content": content})
	lines := []string{said}
	if _, err := os.Stat(filepath.Join(s.dir, name)); err == nil { // no file is written that was not read
		read, _ := json.Marshal(map[string]string{"path": name})
		lines = append(lines, "CALL read_file "+string(read))
	}
	s.say(append(lines, "CALL write_file "+string(raw))...)
}

func contains(t *testing.T, what, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s has no %q:\n%s", what, w, text)
		}
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

// TestRollbackUndoesFilesAndMessages brings both back to a checkpoint, shows it first, and keeps
// what the user wrote.
func TestRollbackUndoesFilesAndMessages(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("a.txt", "old")
	s.write("c.txt", "c")
	s.say("first words")
	s.writes("change a", "a.txt", "new\n")
	s.writes("make b", "b.txt", "b\n")
	s.writes("change c", "c.txt", "agent\n")
	s.write("mine.txt", "mine")
	s.write("c.txt", "user")
	list := s.command("/rollback")
	contains(t, "the list", list.Text, "| 3 |", "“change a CALL", "before write\\_file b.txt")
	if strings.Index(list.Text, "| 3 |") > strings.Index(list.Text, "| 1 |") {
		t.Errorf("not newest first:\n%s", list.Text)
	}
	asked := s.command("/rollback 1")
	contains(t, "the preview", asked.Text, "`a.txt` becomes what it was", "`b.txt` is removed", "Conflicts", "`c.txt`: you and the agent changed it in the same lines", "`mine.txt`", "“change a", "“make b")
	contains(t, "the question", asked.Confirm, "Restore 2 paths and remove 16 messages")
	same(t, "before the answer", []string{s.file("a.txt"), s.file("b.txt")}, []string{"new\n", "b\n"})
	same(t, "messages before the answer", s.said(), []string{"first words", "change a", "make b", "change c"})
	done := s.agreed("/rollback 1")
	contains(t, "the outcome", done.Text, "Restored 2 paths. Undo that with `/rollback 4`", "Removed 16 messages")
	same(t, "files", []string{s.file("a.txt"), s.file("b.txt"), s.file("c.txt"), s.file("mine.txt")}, []string{"old\n", "none", "user\n", "mine\n"})
	same(t, "messages", s.said(), []string{"first words"})
	if _, ok, err := s.store().CutOff(s.session); ok || err != nil {
		t.Errorf("a rollback is left: %v, %v", ok, err)
	}

	// The next turn, whose number was used before, has a checkpoint of its own.
	s.writes("change a in another way", "a.txt", "other\n")
	all, err := s.store().List(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	last := all.Snapshots[len(all.Snapshots)-1]
	if len(all.Snapshots) != 5 || last.Parent != all.Snapshots[0].ID {
		t.Errorf("got %d checkpoints, the last follows %s, want 5 and %s", len(all.Snapshots), last.Parent, all.Snapshots[0].ID)
	}
	tree := s.command("/rollback tree").Text
	contains(t, "the tree", tree, "1  ", "├─2  ", "│ 3", "5 *", "“change a in another way")

	// The rollback is undone: its messages come back, and what was said since is kept.
	asked = s.command("/rollback 4")
	contains(t, "the preview", asked.Text, "kept in a copy of this session (6 messages)", "“change a in another way", "Back in the conversation, since a rollback removed them (16 messages)", "“make b")
	contains(t, "the question", asked.Confirm, "remove 6 messages from the conversation and bring back 16 messages?")
	same(t, "messages before the answer", s.said(), []string{"first words", "change a in another way"})
	done = s.agreed("/rollback 4")
	contains(t, "the outcome", done.Text, "Removed 6 messages", "16 messages are back", "What was said since is in")
	same(t, "files", []string{s.file("a.txt"), s.file("b.txt")}, []string{"new\n", "b\n"})
	same(t, "messages", s.said(), []string{"first words", "change a", "make b", "change c"})
	_, kept, _ := strings.Cut(done.Text, "`/resume ")
	kept, _, _ = strings.Cut(kept, "`")
	from := s.session
	s.session = kept
	same(t, "messages of the copy", s.said(), []string{"first words", "change a in another way"})
	s.session = from

	// The model reads them again, and each checkpoint counts as before.
	s.say("what did I say?")
	s.model.mu.Lock()
	contains(t, "the request", s.model.read, "make b", "change c", "what did I say?")
	if strings.Contains(s.model.read, "in another way") {
		t.Errorf("the model reads what is in the copy: %s", s.model.read)
	}
	s.model.mu.Unlock()
	s.agreed("/rollback 3")
	same(t, "messages", s.said(), []string{"first words", "change a", "make b"})

	// So can the undo be undone, and that, again.
	before := s.command("/rollback 6")
	contains(t, "the question", before.Confirm, "remove 10 messages from the conversation and bring back 6 messages?")
	s.agreed("/rollback 6")
	same(t, "messages", s.said(), []string{"first words", "change a in another way"})
	same(t, "files", []string{s.file("a.txt"), s.file("b.txt")}, []string{"other\n", "none"})
}

// TestUndoOfARollbackThatChangedNoFile brings its messages back, after a restart as well, and not
// those that were undone before.
func TestUndoOfARollbackThatChangedNoFile(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("a.txt", "old")
	s.say("hello")
	s.writes("one", "a.txt", "new\n")
	s.say("undone before")
	if err := s.app.Local(nil).Do(t.Context(), s.session, user, hermes.Undo{}); err != nil {
		t.Fatal(err)
	}
	s.say("two")
	s.write("a.txt", "old") // by the user: the files are as they were
	done := s.agreed("/rollback 1")
	contains(t, "the outcome", done.Text, "No file had to change. Undo that with `/rollback 2`")
	same(t, "messages", s.said(), []string{"hello"})

	// The undo of it is cut off before the messages come back.
	all, err := s.store().List(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	snap := all.Snapshots[1]
	gone := snap.Position().Replaced
	if gone == nil || len(gone.Messages) != 8 || gone.After == 0 {
		t.Fatalf("the snapshot knows %+v", gone)
	}
	cut := checkpoint.Rollback{Session: s.session, Folder: all.Folder, Snapshot: snap.ID, Number: snap.Number, Back: gone.Messages[0]}
	if err := s.store().BeginRollback(cut); err != nil {
		t.Fatal(err)
	}
	contains(t, "the notice", s.told(), "cut off", "the messages are as they were", "/rollback 2")
	asked := s.command("/rollback 2")
	if strings.Contains(asked.Text, "undone before") || asked.Confirm != "Bring back 8 messages?" {
		t.Errorf("it asks %q after %s", asked.Confirm, asked.Text)
	}
	done = s.agreed("/rollback 2")
	if strings.Contains(done.Text, "What was said since") {
		t.Errorf("a copy without need: %s", done.Text)
	}
	same(t, "messages", s.said(), []string{"hello", "one", "two"})
	same(t, "the file", s.file("a.txt"), "old\n")
	if err := s.store().BeginRollback(cut); err != nil {
		t.Fatal(err)
	}
	if text := s.told(); text != "" {
		t.Errorf("what is done is told: %q", text)
	}
	if again := s.command("/rollback 2"); again.Confirm != "" || !strings.Contains(again.Text, "as they were at the checkpoint") {
		t.Errorf("again: %+v", again)
	}
}

// TestRollbackOfOneFileKeepsTheMessages also by its name alone, which is since the last checkpoint.
func TestRollbackOfOneFileKeepsTheMessages(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("a b.txt", "old")
	s.writes("one", "a b.txt", "new\n")
	s.writes("two", "c.txt", "c\n")
	s.agreed("/rollback 1 a b.txt")
	same(t, "files", []string{s.file("a b.txt"), s.file("c.txt")}, []string{"old\n", "c\n"})
	s.agreed("/rollback c.txt")
	same(t, "files", []string{s.file("a b.txt"), s.file("c.txt")}, []string{"old\n", "none"})
	same(t, "messages", s.said(), []string{"one", "two"})
	if done := s.command("/rollback 1 ../x"); done.Failure == nil {
		t.Errorf("a path outside: %+v", done)
	}
	if done := s.command("/rollback 99"); done.Failure == nil || !strings.Contains(done.Failure.Text, "no checkpoint 99") {
		t.Errorf("an unknown one: %+v", done)
	}
}

// TestRollbackAllOverwritesOwnChanges and only if the user says so.
func TestRollbackAllOverwritesOwnChanges(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("mine.txt", "old")
	s.writes("one", "a.txt", "a\n")
	s.write("mine.txt", "new")
	s.agreed("/rollback --all")
	same(t, "files", []string{s.file("a.txt"), s.file("mine.txt")}, []string{"none", "old\n"})
}

// TestRollbackAsksAgainIfSomethingChanged between showing and the answer.
func TestRollbackAsksAgainIfSomethingChanged(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("a.txt", "old")
	s.writes("one", "a.txt", "new\n")
	asked := s.command("/rollback 1")
	s.write("a.txt", "the user was quicker")
	again := s.command(asked.ConfirmLine)
	contains(t, "the answer", again.Text, "changed since you were asked", "Conflicts")
	if again.Confirm == "" || again.ConfirmLine == asked.ConfirmLine {
		t.Errorf("it asks %q, %q", again.Confirm, again.ConfirmLine)
	}
	same(t, "the file", s.file("a.txt"), "the user was quicker\n")
	same(t, "messages", s.said(), []string{"one"})
	s.command(again.ConfirmLine)
	same(t, "messages", s.said(), nil)
	same(t, "the file", s.file("a.txt"), "the user was quicker\n")
}

// TestRollbackIsRefusedWhileATurnRuns and restores no file then.
func TestRollbackIsRefusedWhileATurnRuns(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("a.txt", "old")
	s.writes("one", "a.txt", "new\n")
	asked := s.command("/rollback 1")
	tried := false
	s.asking = func() { // the turn waits for the user
		tried = true
		for _, line := range []string{asked.ConfirmLine, "/rollback 1", "/rollback branch 1"} {
			if err := s.app.Local(nil).Command(t.Context(), s.session, user, line); err != nil {
				t.Error(err)
			}
			for e := range s.events {
				if done, ok := e.(hermes.CommandDone); ok {
					if done.Failure == nil || !strings.Contains(done.Failure.Text, "turn is running") {
						t.Errorf("%s: %+v", line, done)
					}
					break
				}
			}
		}
	}
	s.say("two", `CALL terminal {"command":"rm -rf sub"}`)
	if !tried {
		t.Fatal("it did not ask")
	}
	same(t, "the file", s.file("a.txt"), "new\n")
	if _, ok, _ := s.store().CutOff(s.session); ok {
		t.Error("a rollback is left")
	}
}

// told opens the session in another program and returns its warning, "" if it gives no warning.
func (s *scene) told() string {
	s.t.Helper()
	s.quit()
	s.enter()
	_, events, err := s.app.Local(nil).Attach(s.t.Context(), s.session, user, protocol.After{})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.app.Local(nil).Command(s.t.Context(), s.session, user, "/title"); err != nil {
		s.t.Fatal(err)
	}
	for e := range events {
		switch e := e.Event.(type) {
		case hermes.Notice:
			if e.Level == hermes.NoticeWarning {
				return e.Text
			}
		case hermes.CommandDone:
			return ""
		}
	}
	return ""
}

// beforeARollback is a session in which one file was changed, with the snapshot from before, and the record
// of a rollback to it without its messages.
func beforeARollback(t *testing.T) (*scene, checkpoint.Snapshot, checkpoint.Rollback) {
	t.Helper()
	s := newScene(t, hermes.AllowOnce)
	s.write("a.txt", "old")
	s.writes("one", "a.txt", "new\n")
	all, err := s.store().List(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	snap := all.Snapshots[0]
	return s, snap, checkpoint.Rollback{Session: s.session, Folder: all.Folder, Snapshot: snap.ID, Number: snap.Number}
}

// TestACutOffRollbackIsToldAndFinished: the program ends after the files were restored and before
// the messages were undone.
func TestACutOffRollbackIsToldAndFinished(t *testing.T) {
	t.Parallel()
	s, snap, cut := beforeARollback(t)
	cut.Message = snap.Position().Message
	if err := s.store().BeginRollback(cut); err != nil {
		t.Fatal(err)
	}
	plan, err := s.store().Plan(t.Context(), s.dir, snap.ID, checkpoint.RestoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the notice before the files", s.told(), "cut off", "may not all be restored", "/rollback 1")
	if _, err := s.store().Restore(t.Context(), plan, checkpoint.Meta{}); err != nil {
		t.Fatal(err)
	}
	contains(t, "the notice", s.told(), "the files are restored, and the messages since are still here", "/rollback 1")
	contains(t, "the list", s.command("/rollback").Text, "Finish it with `/rollback 1`")
	contains(t, "the question", s.command("/rollback 1").Confirm, "Remove 6 messages")
	s.agreed("/rollback 1")
	same(t, "messages", s.said(), nil)
	same(t, "the file", s.file("a.txt"), "old\n")
	if text := s.told(); text != "" {
		t.Errorf("it is told again: %q", text)
	}

	// It was cut off when only its record was left to remove.
	if err := s.store().BeginRollback(cut); err != nil {
		t.Fatal(err)
	}
	if text := s.told(); text != "" {
		t.Errorf("what is done is told: %q", text)
	}
	if _, ok, err := s.store().CutOff(s.session); ok || err != nil {
		t.Errorf("the record stays: %v", err)
	}
}

// TestACutOffRollbackIsKnownUntilTheMessagesWereSeen: one that only brings messages back is not taken for
// finished since the database says nothing.
func TestACutOffRollbackIsKnownUntilTheMessagesWereSeen(t *testing.T) {
	t.Parallel()
	s, _, cut := beforeARollback(t)
	cut.Back = s.messages()[0].ID
	s.agreed("/rollback 1")
	same(t, "messages", s.said(), nil)
	if err := s.store().BeginRollback(cut); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	app.CutOff(s.app, gone, s.session)
	if _, ok, err := s.store().CutOff(s.session); !ok || err != nil {
		t.Errorf("its record is gone: %v", err)
	}
	contains(t, "the notice", s.told(), "cut off", "the messages are as they were", "/rollback 1")
}

// TestBranchFromACheckpoint copies what came before; files go with it only on request.
func TestBranchFromACheckpoint(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("a.txt", "old")
	s.say("hello")
	s.writes("one", "a.txt", "new\n")
	s.say("bye")
	done := s.command("/rollback branch 1 another way")
	if done.Action != hermes.ActionSwitch || done.Failure != nil {
		t.Fatalf("got %+v", done)
	}
	same(t, "the file", s.file("a.txt"), "new\n")
	from := s.session
	of := func(id string) []string {
		s.session = id
		defer func() { s.session = from }()
		return s.said()
	}
	same(t, "the copy", of(done.Arg), []string{"hello"})
	same(t, "this one", of(from), []string{"hello", "one", "bye"})
	with := s.agreed("/rollback branch 1 --files")
	contains(t, "the outcome", with.Text, "Restored 1 path", "Branched to")
	same(t, "the file", s.file("a.txt"), "old\n")
	same(t, "the copy", of(with.Arg), []string{"hello"})
	same(t, "this one", of(from), []string{"hello", "one", "bye"})
	back := s.command("/branch --back 1 without bye")
	same(t, "the copy", of(back.Arg), []string{"hello", "one"})

	if done := s.command("/branch --back 3"); done.Failure == nil || !strings.Contains(done.Failure.Text, "no messages before that") {
		t.Errorf("a branch without messages: %+v", done)
	}

	// Checkpoints from before the branch count in the branch, too.
	s.write("a.txt", "new")
	s.quit()
	s.session = back.Arg
	contains(t, "the question in the branch", s.command("/rollback 1").Confirm, "remove 6 messages")
}

// TestDiffShowsTheSessionAndGit in bounds and without what a terminal would obey.
func TestDiffShowsTheSessionAndGit(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.write("a.txt", "old")
	s.write("gone.txt", "gone")
	if text := s.command("/diff").Text; !strings.Contains(text, "No checkpoint of this session") {
		t.Errorf("before: %s", text)
	}
	s.writes("one", "a.txt", "new\x1b[31m\n")
	s.writes("two", "made.txt", "made\n")
	s.say(`CALL terminal {"command":"rm gone.txt"}`)
	text := s.command("/diff").Text
	contains(t, "the diff", text, "- changed `a.txt` (+1 −1)", "- removed `gone.txt` (+0 −1)", "- added `made.txt` (+1 −0)", "-old\n", "+new", "3 paths, 2 lines added, 2 lines removed")
	if strings.Contains(text, "\x1b") {
		t.Errorf("an escape sequence is in it: %q", text)
	}
	if text := s.command("/diff --stat").Text; strings.Contains(text, "-old") || !strings.Contains(text, "3 paths") {
		t.Errorf("--stat: %s", text)
	}
	if text := s.command("/diff made.txt").Text; strings.Contains(text, "a.txt") || !strings.Contains(text, "+made") {
		t.Errorf("a path: %s", text)
	}
	contains(t, "/rollback diff", s.command("/rollback diff 2").Text, "added `made.txt`", "removed `gone.txt`")
	if done := s.command("/diff all"); done.Failure == nil || !strings.Contains(done.Failure.Text, "no repository") {
		t.Errorf("without git: %+v", done)
	}
	s.writes("long", "long.txt", strings.Repeat("x\n", 5000))
	if text := s.command("/diff").Text; len(text) > 40<<10 || !strings.Contains(text, "The diff is longer. See all of it with `hermes diff --session "+s.session) {
		t.Errorf("%d bytes: %s", len(text), text[max(0, len(text)-200):])
	}
}

// TestUsersAreToldWhatHasNoCheckpoint once for a session and folder.
func TestUsersAreToldWhatHasNoCheckpoint(t *testing.T) {
	s := newScene(t, hermes.AllowOnce)
	s.config = "checkpoints: {max_file_size_mb: 1}\n"
	s.write("a.txt", "a")
	s.writes("one", "a.txt", "new\n")
	if len(s.warned) > 0 {
		t.Errorf("warned %q", s.warned)
	}
	for range 2 {
		s.say("two", `CALL terminal {"command":"head -c 2000000 /dev/zero >> big.bin"}`)
	}
	if len(s.warned) != 1 || !strings.Contains(s.warned[0], "big.bin (too large)") {
		t.Errorf("warned %q", s.warned)
	}
	s.quit()
	s.warned, s.session = nil, ""
	t.Setenv("HOME", s.dir)
	for range 2 {
		s.writes("one", "a.txt", "newer\n")
	}
	if len(s.warned) != 1 || !strings.Contains(s.warned[0], "your home folder is in it") {
		t.Errorf("warned %q", s.warned)
	}
}
