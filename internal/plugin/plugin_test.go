package plugin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/plugin"
)

func TestAPluginOffersWhatWasEnabledAndIsStartedAtFirstUse(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", manifest)
	f.enable()
	started := 0
	place := f.config.Environment
	f.config.Environment = func(m plugin.Manifest, dir string) (hermes.Environment, error) { started++; return place(m, dir) }
	f.load()
	sets := f.all.Toolsets()
	if f.err != nil || len(sets) != 1 || sets[0].Name() != "plugin-test" || sets[0].Available(t.Context()) != "" || started != 0 {
		t.Fatal(f.err, sets, started)
	}
	if got := f.all.Sections(); len(got) != 1 || got[0] != (plugin.Section{Name: "test/style", Text: "Use the tool add for sums."}) {
		t.Error("sections:", got)
	}
	r, err := f.run(t.Context(), &host{}, "add", `{"a":2,"b":3}`)
	if err != nil || r.Text != "5" || started != 1 {
		t.Error(r, err, started)
	}
	if _, err := f.run(t.Context(), &host{}, "fails", `{}`); err == nil || !strings.Contains(err.Error(), "the disk of the plugin is full") {
		t.Error("a failure:", err)
	}
	if f.tool("add").Spec().Effect != hermes.EffectNone || f.tool("change").Spec().Effect == hermes.EffectNone {
		t.Error("effects are not those of the plugin")
	}
}

// TestAChangedFileDisables: any change of any file, also one that is new.
func TestAChangedFileDisables(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", manifest)
	f.put("data.txt", "one")
	f.enable()
	for _, change := range []func(){
		func() { f.put("data.txt", "two") },
		func() { f.put("data.txt", "one"); f.put("new.txt", "") },
		func() {
			_ = os.Remove(filepath.Join(f.folder, "test", "new.txt"))
			_ = os.Chmod(filepath.Join(f.folder, "test", "data.txt"), 0o700)
		},
	} {
		change()
		if f.load(); f.err == nil || !strings.Contains(f.err.Error(), "changed since you enabled it") || len(f.all.Toolsets()) != 0 || len(f.all.Sections()) != 0 {
			t.Error("used:", f.err)
		}
	}
	f.enable()
	if f.load(); f.err != nil || len(f.all.Toolsets()) != 1 {
		t.Error("after it was enabled again:", f.err)
	}
}

// TestAChangeWhileItIsLoadedDisables: the files are looked at again before the program starts.
func TestAChangeWhileItIsLoadedDisables(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	f.put("evil.py", "x")
	if _, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err == nil || !strings.Contains(err.Error(), "changed since you enabled it") {
		t.Error(err)
	}
	if why := f.all.Toolsets()[0].Available(t.Context()); !strings.Contains(why, "changed since") {
		t.Error("available:", why)
	}
}

// TestAProgramThatOffersSomethingElseIsNotUsed: what the user saw is what there is.
func TestAProgramThatOffersSomethingElseIsNotUsed(t *testing.T) {
	t.Parallel()
	f := begin(t, "grown")
	if _, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err == nil || !strings.Contains(err.Error(), "not what you enabled") {
		t.Error(err)
	}
}

func TestTheNameOfAnotherToolIsRefused(t *testing.T) {
	t.Parallel()
	f := install(t, "shadow", manifest)
	o := f.enable()
	taken := func(name string) bool { return name == "read_file" }
	if why := o.Shadows(taken); !strings.Contains(why, "another tool read_file") {
		t.Error(why)
	}
	f.load("read_file")
	if f.err == nil || !strings.Contains(f.err.Error(), "another tool read_file") || len(f.all.Toolsets()) != 0 {
		t.Error(f.err)
	}
}

func TestNothingIsUsedThatIsNotEnabled(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", manifest)
	if f.load(); f.err == nil || !strings.Contains(f.err.Error(), "hermes plugins enable test") || len(f.all.List()) != 0 {
		t.Error(f.err)
	}
	f.enable()
	all, err := plugin.New(f.config, f.folder, nil, nil)
	if err != nil || len(all.List()) != 0 {
		t.Error("a plugin that only is pinned:", err)
	}
}

// TestAPluginSeesNoKey: the environment is that of its place.
func TestAPluginSeesNoKey(t *testing.T) {
	f := begin(t, "plain")
	t.Setenv("OPENAI_API_KEY", "sk-hidden")
	r, err := f.run(t.Context(), &host{}, "environment", `{}`)
	if err != nil || strings.Contains(r.Text, "sk-hidden") || !strings.Contains(r.Text, "HERMES_PLUGIN=test") {
		t.Error(r.Text, err)
	}
}

func TestProgressIsShownAndStopCancels(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	h := &host{moved: make(chan struct{})}
	moved := h.moved
	go func() { // ends with the test
		<-moved
		stop(errors.New("the user stopped it"))
	}()
	if _, err := f.run(ctx, h, "slow", `{}`); err == nil || err.Error() != "the user stopped it" {
		t.Error(err)
	}
	if !slices.Equal(h.progress, []string{"half[2Jway"}) {
		t.Errorf("progress: %q", h.progress)
	}
	until(t, "the plugin is told", func() bool { data, _ := os.ReadFile(f.file); return string(data) == "cancelled" })
	if r, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err != nil || r.Text != "2" {
		t.Error("after that:", r, err)
	}
}

// until waits for what others do.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 3000 {
		if done() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it did not happen: ", what)
}

func TestAPluginMayInvokeWhatItDeclares(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	h := &host{}
	r, err := f.run(t.Context(), h, "invoke", `{"path":"x"}`)
	if err != nil || r.Text != `{"text":"read"}` || !slices.Equal(h.invoked, []string{`read_file{"path":"x"}`}) {
		t.Error(r.Text, err, h.invoked)
	}
	for _, row := range []struct{ method, name, want string }{
		{"host/invoke", "terminal", "not among capabilities.tools"},
		{"host/secrets", "", "no method"},
	} {
		r, err := f.run(t.Context(), h, "forged", `{"method":"`+row.method+`","name":"`+row.name+`"}`)
		if err != nil || !strings.Contains(r.Text, row.want) {
			t.Error(row, r.Text, err)
		}
	}
	if len(h.invoked) != 1 {
		t.Error("invoked:", h.invoked)
	}
}

// TestAnUndeclaredRequestIsRefused: with a manifest that declares nothing.
func TestAnUndeclaredRequestIsRefused(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", manifest[:strings.Index(manifest, "capabilities")])
	f.config.Complete = func(context.Context, plugin.Completion) (plugin.Completed, error) {
		t.Error("a model was asked")
		return plugin.Completed{}, nil
	}
	f.enable()
	f.load()
	h := &host{}
	for _, tool := range []string{"invoke", "question", "model"} {
		if r, err := f.run(t.Context(), h, tool, `{}`); err != nil || !strings.Contains(r.Text, "is not declared") {
			t.Error(tool, r.Text, err)
		}
	}
	if len(h.invoked)+len(h.asked) > 0 {
		t.Error(h.invoked, h.asked)
	}
}

// TestARequestEndsWithItsCall: a host is not used after the call that it belongs to.
func TestARequestEndsWithItsCall(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	h := &host{}
	if _, err := f.run(t.Context(), h, "late_request", `{}`); err != nil {
		t.Fatal(err)
	}
	until(t, "a refusal", func() bool { data, _ := os.ReadFile(f.file); return strings.Contains(string(data), "no call") })
	if len(h.invoked) > 0 {
		t.Error(h.invoked)
	}
}

func TestAPluginAsksTheUserAndAModel(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", manifest)
	var got plugin.Completion
	f.config.Complete = func(_ context.Context, c plugin.Completion) (plugin.Completed, error) {
		got = c
		return plugin.Completed{Model: "m", Text: "hi"}, nil
	}
	f.enable()
	f.load()
	h := &host{}
	r, err := f.run(t.Context(), h, "question", `{}`)
	if err != nil || r.Text != `{"texts":["b"]}` || len(h.asked) != 1 || !strings.HasPrefix(h.asked[0].Text, "The plugin test asks: Which") || strings.Contains(h.asked[0].Text, "\u202e") || h.asked[0].Secret {
		t.Error(r.Text, err, h.asked)
	}
	for range 2 {
		if r, err := f.run(t.Context(), h, "model", `{}`); err != nil || r.Text != `{"model":"m","text":"hi"}` {
			t.Error(r.Text, err)
		}
	}
	if got.MaxTokens != 100 || got.Plugin != "test" {
		t.Errorf("asked %+v", got)
	}
	if r, err := f.run(t.Context(), h, "model", `{}`); err != nil || !strings.Contains(r.Text, "2 times in the last minute") {
		t.Error("a third time:", r.Text, err)
	}
}

func TestCallsThatMayChangeSomethingAskAfterTextOfOthers(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	for _, row := range []struct {
		tool, taint string
		asks        bool
	}{
		{"change", "", false}, {"change", "web_extract a.example", true}, {"change", "add 1", false}, {"change", "plugin test", false}, {"add", "web_extract a.example", false},
	} {
		tool := f.tool(row.tool).(hermes.RiskAssessor)
		risks := tool.AssessRisk(t.Context(), &hermes.Call{Name: row.tool, Host: &host{taint: row.taint}})
		if (len(risks) > 0) != row.asks {
			t.Errorf("%+v: %+v", row, risks)
		}
	}
}

// TestACallThatOnlyReadsIsMadeOnceMore: its program is lost once, and starts at once.
func TestACallThatOnlyReadsIsMadeOnceMore(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	if r, err := f.run(t.Context(), &host{}, "dies_once", `{}`); err != nil || r.Text != "lives" {
		t.Error(r, err)
	}
}

// TestAProgramThatDiesComesBack: at once, then after a wait, and at once again if it ran for long.
func TestAProgramThatDiesComesBack(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", manifest)
	var mu sync.Mutex
	now := time.Now()
	f.config.Now = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	f.enable()
	f.load()
	later := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	dies := func() {
		t.Helper()
		_, err := f.run(t.Context(), &host{}, "dies", `{}`)
		if err == nil || !strings.Contains(err.Error(), "exit status 9") || !strings.Contains(err.Error(), "check before you repeat it") {
			t.Fatal(err)
		}
	}
	works := func(when string) {
		t.Helper()
		if r, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err != nil || r.Text != "2" {
			t.Error(when, r, err)
		}
	}
	dies()
	works("after the first loss:")
	dies()
	if _, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err == nil || !strings.Contains(err.Error(), "cannot be used now") {
		t.Error("at once after the second:", err)
	}
	later(2 * time.Second)
	works("later:")
	later(2 * time.Minute)
	dies()
	works("after it ran for long:")
}

func TestAProgramThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"exit": "no licence key was found", "huge": "too large"} {
		f := begin(t, kind)
		if _, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestAMutePluginEndsInItsTime: and Close does not wait for it.
func TestAMutePluginEndsInItsTime(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", strings.Replace(manifest, "start: 20", "start: 1", 1))
	f.kind = "mute"
	m, _, err := plugin.ReadManifest(filepath.Join(f.folder, "test"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plugin.Look(t.Context(), f.config, filepath.Join(f.folder, "test"), m); err == nil || !strings.Contains(err.Error(), "did not answer within 1s") {
		t.Error(err)
	}
}

// TestAFloodEndsThePlugin, whatever it is of: and a second plugin, or this one later, is not harmed.
func TestAFloodEndsThePlugin(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"notices", "responses", "invalid", "errors"} {
		f := begin(t, "plain")
		h := &host{}
		if _, err := f.run(t.Context(), h, "flood", `{"of":"`+of+`"}`); err == nil || !strings.Contains(err.Error(), "before it answered") {
			t.Errorf("%s: %v", of, err)
		}
		h.mu.Lock()
		if n := len(h.progress); n > 2000 {
			t.Errorf("%d notices were shown", n)
		}
		h.mu.Unlock()
	}
}

func TestAPrintIsNoReasonToEnd(t *testing.T) {
	t.Parallel()
	f := begin(t, "noisy")
	if r, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err != nil || r.Text != "2" {
		t.Error(r, err)
	}
}

// TestCloseLeavesNothing: no process of the plugin or of what it started, also if it does not end
// when it is asked to.
func TestCloseLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "stays"} {
		f := begin(t, kind)
		r, err := f.run(t.Context(), &host{}, "child", `{}`)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.all.Close(); err != nil {
			t.Error(err)
		}
		until(t, "the end of the child "+r.Text, func() bool { return !alive(r.Text) })
		if _, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err == nil || !strings.Contains(err.Error(), "shutting down") {
			t.Error("after Close:", err)
		}
	}
}

// TestManyCallsAtOnce: each gets its own answer.
func TestManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	f := begin(t, "plain")
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			want := string(rune('0' + i%9))
			if r, err := f.run(t.Context(), &host{}, "add", `{"a":0,"b":`+want+`}`); err != nil || r.Text != want {
				t.Error(r, err)
			}
		})
	}
	all.Wait()
}

// TestAProgramThatAnswersNoMoreIsEnded: after some calls in a row, and started again later.
func TestAProgramThatAnswersNoMoreIsEnded(t *testing.T) {
	t.Parallel()
	f := install(t, "plain", strings.Replace(manifest, "call: 20", "call: 1", 1))
	f.enable()
	var starts atomic.Int32
	place := f.config.Environment
	f.config.Environment = func(m plugin.Manifest, dir string) (hermes.Environment, error) {
		starts.Add(1)
		return place(m, dir)
	}
	f.load()
	if _, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := f.run(t.Context(), &host{}, "slow", `{}`); err == nil || !strings.Contains(err.Error(), "did not answer within 1s") {
			t.Error(err)
		}
	}
	until(t, "another start", func() bool {
		r, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`)
		return err == nil && r.Text == "2" && starts.Load() == 2
	})
}

// TestTheStateOfAPluginSaysWhyItFailed.
func TestTheStateOfAPluginSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	f := begin(t, "exit")
	if got := f.all.States(); len(got) != 1 || got[0].Phase != plugin.PhaseReady || got[0].Name != "test" || got[0].Version != "1" {
		t.Errorf("before its first use: %+v", got)
	}
	if _, err := f.run(t.Context(), &host{}, "add", `{"a":1,"b":1}`); err == nil {
		t.Fatal("it works")
	}
	if got := f.all.States(); len(got) != 1 || got[0].Phase != plugin.PhaseFailed || !strings.Contains(got[0].Reason, "exit status") {
		t.Errorf("after it ended: %+v", got)
	}
}
