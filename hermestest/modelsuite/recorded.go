package modelsuite

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hermes"
)

// Recorded is an http.RoundTripper that answers with recorded responses from
// testdata and keeps the last request. It may be used concurrently; read its
// fields when the calls are over.
type Recorded struct {
	T *testing.T
	// File names the recording, without ".http".
	File string
	// Raw is the body, and Kind its content type, if File is empty.
	Raw  []byte
	Kind string

	mu     sync.Mutex
	Body   []byte // of the last request
	Header http.Header
	URL    string
	Method string
}

// RoundTrip answers one request.
func (r *Recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var body bytes.Buffer
	if req.Body != nil {
		body.Grow(max(0, int(req.ContentLength)) + bytes.MinRead)
		if _, err := body.ReadFrom(req.Body); err != nil {
			return nil, err
		}
	}
	r.Body = body.Bytes()
	r.Header, r.URL, r.Method = req.Header, req.URL.String(), req.Method
	if r.File == "" {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {r.Kind}}, Body: io.NopCloser(bytes.NewReader(r.Raw)), Request: req}, nil
	}
	raw, err := os.ReadFile(filepath.Join("testdata", r.File+".http"))
	if err != nil {
		r.T.Error(err)
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), req)
}

// CheckAnswer reads any answer and checks what every model must keep: at most
// one error, which is a model error and the last item; or a finish, and calls
// with a unique id and a name.
func CheckAnswer(t *testing.T, m hermes.Model) {
	t.Helper()
	var (
		failed error
		a      hermes.Assembly
	)
	r := contractRequest()
	for d, err := range m.Stream(t.Context(), r) {
		if failed != nil {
			t.Fatalf("%+v, %v after the error %v", d, err, failed)
		}
		failed = err
		if err == nil && fieldsSet(d) != 1 {
			t.Fatalf("a delta has %d fields set: %+v", fieldsSet(d), d)
		}
		a.Add(d)
	}
	got := a.Message()
	if _, ok := errors.AsType[*hermes.ModelError](failed); ok == (got.Finish != "") {
		t.Fatalf("finish %q and error %v", got.Finish, failed)
	}
	ids := map[string]bool{}
	for _, c := range got.Calls {
		if failed == nil && (c.ID == "" || c.Name == "" || ids[c.ID]) {
			t.Fatalf("a call without a name or a unique id: %+v", c)
		}
		ids[c.ID] = true
	}
}
