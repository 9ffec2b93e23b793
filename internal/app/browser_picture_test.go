package app_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"net/http/httptest"
	"os"
	"testing"

	"hermes/internal/chatserver"
)

// TestAPictureShowsTheWholePage if it is asked for.
func TestAPictureShowsTheWholePage(t *testing.T) {
	t.Parallel()
	sees := httptest.NewServer(&chatserver.Handler{Model: "eyes", Decide: func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "It shows hats."}, nil
	}})
	t.Cleanup(sees.Close)
	w := newWeb(t, page(`<body style="margin:0"><div style="height:3000px">Hats</div>`))
	w.config = "  vision: {base_url: '" + sees.URL + "/v1', model: eyes}\n" + w.config // the section auxiliary is the last one
	for more, want := range map[string]int{``: 800, `,"full":true`: 3000} {
		w.play("Look at {URL}", step{"browser_navigate", `{"url":"{URL}"}`}, step{"browser_vision", `{"question":"What is it?"` + more + `}`})
		var out struct{ Screenshot string }
		if err := json.Unmarshal([]byte(w.surfer.last()), &out); err != nil {
			t.Fatalf("%v: %s", err, w.surfer.last())
		}
		raw, err := os.ReadFile(out.Screenshot)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := png.DecodeConfig(bytes.NewReader(raw)); err != nil || m.Height != want {
			t.Errorf("with %q, a picture of %dx%d, %v; want a height of %d", more, m.Width, m.Height, err, want)
		}
	}
	w.play("Look at {URL}", step{"browser_vision", `{"question":"What is it?","full":true,"annotate":true}`})
	w.wants("annotate or full, not both")
}
