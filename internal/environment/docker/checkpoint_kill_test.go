package docker_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/checkpoint"
	"hermes/internal/environment/docker"
	"hermes/internal/environment/enginetest"
	"hermes/internal/environment/remote"
)

// keepVariable makes the test binary a program that makes and restores checkpoints in a
// container until it is killed.
const keepVariable = "CHECKPOINT_TEST_JOB"

// keeping is what that program does.
type keeping struct {
	Config      docker.Config
	Mirror, Dir string
	Restore     string // a snapshot; else it makes some
}

func keepAndWait() {
	var k keeping
	if err := json.Unmarshal([]byte(os.Getenv(keepVariable)), &k); err != nil {
		panic(err)
	}
	r, err := docker.New(k.Config)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	env := remote.New(remote.Config{Runner: r, Dir: docker.Workspace})
	s := checkpoint.New(checkpoint.Config{Folder: k.Mirror, Place: env, Limits: checkpoint.Limits{Snapshots: 3}})
	say := func(text string, err error) {
		if err != nil {
			text = "failed: " + err.Error()
		}
		fmt.Println(text)
	}
	for i := 0; k.Restore == ""; i++ {
		if i == 1 {
			say("begin", nil)
		}
		if _, err := env.Script(ctx, fmt.Sprintf("echo %d >%s/d1/changing", i, k.Dir), nil, nil, nil); err != nil {
			say("", err)
		}
		if _, _, err := s.Snapshot(ctx, k.Dir, checkpoint.Meta{Reason: "loop"}, checkpoint.SnapshotOptions{}); err != nil {
			say("", err)
		}
		if i%2 == 1 {
			_, err := s.Prune(ctx)
			say("pruned", err)
		}
	}
	p, err := s.Plan(ctx, k.Dir, k.Restore, checkpoint.RestoreOptions{All: true})
	say("begin", err)
	_, err = s.Restore(ctx, p, checkpoint.Meta{})
	say("end", err)
}

// killed runs that program and kills it some time after it began.
func killed(t *testing.T, k keeping, after time.Duration) {
	t.Helper()
	text, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), keepVariable+"="+string(text))
	w := &lookout{word: "begin", seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // ends with the process
		_ = cmd.Wait()
		close(ended)
	}()
	select {
	case <-w.seen:
	case <-ended:
		t.Fatal("it ended before it began")
	}
	select {
	case <-time.After(after):
	case <-ended:
	}
	_ = cmd.Process.Kill()
	<-ended
}

// TestKilledCheckpointsInAContainerAreWholeOrAbsent kills programs that make and restore checkpoints in a
// container, and the container itself, at random moments. Every snapshot that is listed can be
// restored, a restore is finished at the next use, and nothing unfinished is left.
func TestKilledCheckpointsInAContainerAreWholeOrAbsent(t *testing.T) {
	t.Parallel()
	e := dockerEngine.Get(t)
	c := kept(config(t, e))
	t.Cleanup(func() { removeAll(t, e, c.Home) })
	mirror := filepath.Join(t.TempDir(), "mirror")
	s := mustSite(t, c, mirror)
	in := "cd " + s.Dir + " && "
	s.Run(t, in+"mkdir d1 d2 && for i in 1 2 3 4 5 6 7 8 9; do echo content $i >d1/f$i; echo other $i >d2/g$i; done; ln -s d1 link")
	snapshot := func() checkpoint.Snapshot {
		t.Helper()
		m, _, err := s.Store.Snapshot(t.Context(), s.Dir, checkpoint.Meta{}, checkpoint.SnapshotOptions{Always: true})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	dump := func() string {
		return string(s.Run(t, in+"find . -type f -exec sha256sum {} + | sort; ls -l link | cut -d'>' -f2; find . -type d -exec stat -c '%a %n' {} + | sort"))
	}
	unfinished := func() {
		t.Helper()
		if left := s.Run(t, "find ~/.hermes "+s.Dir+" -name '*.tmp' -o -name restore.json"); len(left) > 0 {
			t.Errorf("left behind: %s", left)
		}
	}
	r := rand.New(rand.NewPCG(15, 4))
	job := keeping{Config: c, Mirror: mirror, Dir: s.Dir}
	for range 3 {
		killed(t, job, time.Duration(r.IntN(1500))*time.Millisecond)
		list, err := s.Store.List(s.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list.Snapshots {
			p, err := s.Store.Plan(t.Context(), s.Dir, m.ID, checkpoint.RestoreOptions{All: true})
			if err != nil || len(p.Conflicts) > 0 {
				t.Fatalf("plan %d: %v, %v", m.Number, p.Conflicts, err)
			}
			if did, err := s.Store.Restore(t.Context(), p, checkpoint.Meta{}); err != nil || len(did.Failed) > 0 {
				t.Fatalf("restore %d: %+v, %v", m.Number, did.Failed, err)
			}
			break // those after it are restored by those that follow
		}
		unfinished()
	}
	s.Run(t, in+"rm -f d1/changing")
	first, want := snapshot(), dump()
	for i := range 4 {
		s.Run(t, in+"rm -rf d2 && mkdir -p d3 && for i in 1 2 3 4 5 6 7 8 9; do echo changed >d1/f$i; echo new >d3/h$i; done; rm -f link && ln -s d3 link")
		changed := dump()
		if i%2 == 0 {
			job.Restore = first.ID
			killed(t, job, time.Duration(r.IntN(1200))*time.Millisecond)
		} else {
			killContainer(t, e, s.Store, s.Dir, first.ID, c.Home, time.Duration(r.IntN(1200))*time.Millisecond)
		}
		if _, err := s.Store.Diff(t.Context(), s.Dir, first.ID, "", nil); err != nil { // any use finishes it
			t.Fatal(err)
		}
		unfinished()
		if got := dump(); got != want && got != changed {
			t.Fatalf("round %d: the folder is neither as before nor restored:\n%s", i, got)
		}
		p, err := s.Store.Plan(t.Context(), s.Dir, first.ID, checkpoint.RestoreOptions{All: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Store.Restore(t.Context(), p, checkpoint.Meta{}); err != nil {
			t.Fatal(err)
		}
		if got := dump(); got != want {
			t.Fatalf("round %d: not restored:\n%s", i, got)
		}
	}
}

// killContainer kills everything in the container while a restore runs in it.
func killContainer(t *testing.T, e *enginetest.Engine, s *checkpoint.Store, dir, ref, home string, after time.Duration) {
	t.Helper()
	p, err := s.Plan(t.Context(), dir, ref, checkpoint.RestoreOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { // ends with the restore
		defer close(done)
		_, _ = s.Restore(t.Context(), p, checkpoint.Meta{}) // an error, or it was faster
	}()
	select {
	case <-time.After(after):
	case <-done:
	}
	for _, id := range containers(t, e, home) {
		if _, err := e.Run(context.Background(), "kill", id); err != nil && !strings.Contains(err.Error(), "not running") {
			t.Error(err)
		}
	}
	<-done
}
