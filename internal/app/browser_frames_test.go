package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes"
)

// TestAMethodOfTheProtocolRunsInAFrame: frames of other sites, which have processes of their own, and of the same
// one are listed, and a method sees the one that is named.
func TestAMethodOfTheProtocolRunsInAFrame(t *testing.T) {
	t.Parallel()
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/far", "/near":
			fmt.Fprintf(w, "<!doctype html><h1>Here is %s", r.URL.Path)
		default:
			fmt.Fprintf(w, `<!doctype html><h1>Top</h1><iframe src="/near"></iframe><iframe src="http://%s/far"></iframe>`, strings.Replace(r.Host, "127.0.0.1", "localhost", 1))
		}
	}))
	w.answer = hermes.AllowOnce
	w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}/"}`}, step{"browser_cdp", `{"method":"Page.getFrameTree"}`})
	type tree struct {
		Frame    struct{ ID, ParentID, URL string }
		Children []tree `json:"childFrames"`
	}
	var all struct{ FrameTree tree }
	if err := json.Unmarshal([]byte(w.surfer.last()), &all); err != nil || len(all.FrameTree.Children) != 2 {
		t.Fatalf("%v: %s", err, w.surfer.last())
	}
	seen := map[string]bool{}
	for _, frame := range append(all.FrameTree.Children, all.FrameTree) {
		w.play("Look into the frames of {URL}", step{"browser_cdp", `{"method":"Accessibility.getFullAXTree","frame_id":"` + frame.Frame.ID + `","params":{"depth":10}}`})
		at := frame.Frame.URL[strings.LastIndex(frame.Frame.URL, "/"):]
		for name, text := range map[string]string{"/far": "Here is /far", "/near": "Here is /near", "/": "Top"} {
			if has := strings.Contains(w.surfer.last(), `"`+text+`"`); has != (name == at) {
				t.Errorf("the frame %s shows %q: %v\n%s", at, text, has, w.surfer.last())
			}
		}
		seen[at] = true
	}
	if len(seen) != 3 {
		t.Errorf("seen %v", seen)
	}
	w.play("Look into the frames of {URL}", step{"browser_cdp", `{"method":"Page.getLayoutMetrics","frame_id":"` + all.FrameTree.Children[1].Frame.ID + `"}`})
	w.wants("cssContentSize")
	for call, want := range map[string]string{
		`{"method":"Page.getLayoutMetrics","frame_id":"none"}`:                                                                      "there is no such frame",
		`{"method":"Page.navigate","frame_id":"` + all.FrameTree.Children[0].Frame.ID + `","params":{"url":"http://evil.example"}}`: "is not allowed",
	} {
		w.play("Look into the frames of {URL}", step{"browser_cdp", call})
		w.wants(want)
	}
}
