package webpage_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/webpage"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	const limit = 60_000
	bodies := map[string][2]string{
		"/page":  {"text/html; charset=iso-8859-1", "<title>T\xfcr</title><script>x()</script><h1>Gr\xfc\xdfe</h1><p>See <a href='/next'>next</a>."},
		"/json":  {"application/json", `{"a":"ü"}`},
		"/none":  {"", "just words"},
		"/full":  {"text/plain", strings.Repeat("x", limit)},
		"/long":  {"text/plain", strings.Repeat("x", limit+1)},
		"/pdf":   {"application/pdf", "%PDF-1.7\n\x00"},
		"/paper": {"application/pdf", mustRead(t, "../pdf/testdata/chromium.pdf")},
		"/bytes": {"application/octet-stream", mustRead(t, "../pdf/testdata/encrypted.pdf")},
		"/lock":  {"application/pdf", mustRead(t, "../pdf/testdata/password.pdf")},
		"/app":   {"text/html", "<div id=root></div><script src=x></script>"},
		"/liar":  {"text/plain", "a\x00b\x00\x01"},
		"/empty": {"text/html", "<p> "},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := bodies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header()["Content-Type"] = nil
		if body[0] != "" {
			w.Header().Set("Content-Type", body[0])
		}
		_, _ = io.WriteString(w, body[1])
	}))
	defer s.Close()
	for path, want := range map[string]string{"/paper": "Tides at the harbour\nThe office", "/bytes": "Report of the harbour office\n"} {
		if got, err := webpage.Fetch(t.Context(), s.Client(), s.URL+path, limit); err != nil || !strings.Contains(got.Text, want) || got.Cut {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	for path, want := range map[string]struct {
		page webpage.Page
		err  string
	}{
		"/page":  {page: webpage.Page{Title: "Tür", Text: "# Grüße\n\nSee [next](" + s.URL + "/next)."}},
		"/json":  {page: webpage.Page{Text: `{"a":"ü"}`}},
		"/none":  {page: webpage.Page{Text: "just words"}},
		"/full":  {page: webpage.Page{Text: strings.Repeat("x", limit)}},
		"/long":  {page: webpage.Page{Text: strings.Repeat("x", limit), Cut: true}},
		"/pdf":   {err: "it is not a valid PDF file"},
		"/lock":  {err: "it is a PDF file with a password: it cannot be read without it"},
		"/app":   {err: "it has no text without its scripts: open it in a browser"},
		"/liar":  {err: "it is not text"},
		"/empty": {err: "it has no text"},
		"/gone":  {err: "the server answered Not Found (404)"},
	} {
		got, err := webpage.Fetch(t.Context(), s.Client(), s.URL+path, limit)
		if want.err != "" {
			if err == nil || err.Error() != want.err {
				t.Errorf("%s: %v, want %s", path, err, want.err)
			}
			if _, ok := errors.AsType[*webpage.NotTextError](err); ok != strings.HasSuffix(want.err, "not text") {
				t.Errorf("%s: %T", path, err)
			}
			continue
		}
		if diff := cmp.Diff(want.page, got); diff != "" || err != nil {
			t.Errorf("%s: %s, %v", path, diff, err)
		}
	}
}

func mustRead(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A part of a PDF file is damaged, so it is read whole, or refused.
func TestLargePDFFilesAreFetchedWhole(t *testing.T) {
	t.Parallel()
	paper := []byte(mustRead(t, "../pdf/testdata/chromium.pdf"))
	size := 200_000
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		n := size
		if r.URL.Path == "/large" {
			n = webpage.MaxDocument + 2
		}
		_, _ = w.Write([]byte("%PDF-1.7\n%"))
		_, _ = io.WriteString(w, strings.Repeat("x", n-len(paper)-11)+"\n")
		_, _ = w.Write(paper[:len(paper)-1])
	}))
	defer s.Close()
	const limit = 60_000
	if p, err := webpage.Fetch(t.Context(), s.Client(), s.URL+"/paper", limit); err != nil || p.Cut || !strings.Contains(p.Text, "Tides at the harbour") {
		t.Errorf("%.100q, cut %v, %v", p.Text, p.Cut, err)
	}
	_, err := webpage.Fetch(t.Context(), s.Client(), s.URL+"/large", limit)
	if want := "it is a PDF file with more than 16 MB: download it and attach the file"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
