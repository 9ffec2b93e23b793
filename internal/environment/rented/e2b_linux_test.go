package rented_test

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"hermes/internal/environment/e2b"
	"hermes/internal/environment/rented"
)

const e2bKey = "e2b_0123456789abcdef0123456789abcdef01234567"

// e2bServer speaks the public API of E2B and, at the same address, what the daemon in each
// sandbox speaks.
type e2bServer struct {
	record
	*httptest.Server
	t     *testing.T
	mu    sync.Mutex
	boxes map[string]*e2bBox
}

type e2bBox struct {
	*machine
	id, state, token string
	metadata         map[string]string
}

func newE2B(t *testing.T) *e2bServer {
	s := &e2bServer{t: t, boxes: map[string]*e2bBox{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/sandboxes", s.keyed(s.create))
	mux.HandleFunc("GET /v2/sandboxes", s.keyed(s.list))
	mux.HandleFunc("POST /v2/sandboxes/{id}/connect", s.keyed(s.connect))
	mux.HandleFunc("POST /sandboxes/{id}/pause", s.keyed(s.pause))
	mux.HandleFunc("DELETE /sandboxes/{id}", s.keyed(s.remove))
	mux.HandleFunc("POST /process.Process/Start", s.inside(s.start))
	mux.HandleFunc("POST /process.Process/SendSignal", s.inside(s.signal))
	mux.HandleFunc("POST /files", s.inside(s.upload))
	mux.HandleFunc("GET /files", s.inside(s.download))
	mux.HandleFunc("POST /filesystem.Filesystem/ListDir", s.inside(s.listDir))
	s.Server = httptest.NewServer(s.wrap(mux))
	t.Cleanup(s.Close)
	return s
}

func (s *e2bServer) address() string { return s.URL }

func (s *e2bServer) open(c rented.Config) (*rented.Runner, error) {
	c.BaseURL = s.URL
	return e2b.New(e2b.Config{Config: c, Key: e2bKey, SandboxURL: s.URL})
}

func (s *e2bServer) keyed(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-API-KEY") != e2bKey {
			refuse(w, 401, "Invalid API key")
			return
		}
		h(w, r)
	}
}

func (s *e2bServer) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		TemplateID string
		Metadata   map[string]string
	}
	if !decode(r, &in) || in.TemplateID == "" {
		refuse(w, 400, "no template")
		return
	}
	box := &e2bBox{machine: newMachine(s.t), id: "i" + rand.Text(), state: "running", token: rand.Text(), metadata: in.Metadata}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boxes[box.id] = box
	reply(w, 201, box.shown())
}

func (b *e2bBox) shown() map[string]any {
	return map[string]any{"sandboxID": b.id, "templateID": "base", "clientID": "c", "envdVersion": "0.6.0", "envdAccessToken": b.token}
}

func (s *e2bServer) list(w http.ResponseWriter, r *http.Request) {
	want, _ := url.ParseQuery(r.URL.Query().Get("metadata"))
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []map[string]any{}
	for _, box := range s.boxes {
		fits := true
		for name := range want {
			fits = fits && box.metadata[name] == want.Get(name)
		}
		if fits {
			shown := box.shown()
			for name, value := range map[string]any{
				"state": box.state, "startedAt": "2026-01-01T00:00:00Z", "endAt": "2026-01-01T01:00:00Z",
				"cpuCount": 1, "memoryMB": 512, "diskSizeMB": 512, "metadata": box.metadata,
			} {
				shown[name] = value
			}
			list = append(list, shown)
		}
	}
	reply(w, 200, list)
}

func (s *e2bServer) connect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.boxes[r.PathValue("id")]
	switch {
	case box == nil:
		refuse(w, 404, "Sandbox not found")
	case box.state == "paused":
		box.state = "running"
		reply(w, 201, box.shown())
	default:
		reply(w, 200, box.shown())
	}
}

func (s *e2bServer) pause(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.boxes[r.PathValue("id")]
	switch {
	case box == nil:
		refuse(w, 404, "Sandbox not found")
	case box.state == "paused":
		refuse(w, 409, "Sandbox is already paused")
	default:
		box.state = "paused"
		w.WriteHeader(204)
	}
}

func (s *e2bServer) remove(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.boxes[r.PathValue("id")]
	if box == nil {
		refuse(w, 404, "Sandbox not found")
		return
	}
	box.stop()
	delete(s.boxes, box.id)
	w.WriteHeader(204)
}

// inside answers for a sandbox that runs, which its header names.
func (s *e2bServer) inside(h func(http.ResponseWriter, *http.Request, *e2bBox)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		box := s.boxes[r.Header.Get("E2b-Sandbox-Id")]
		runs := box != nil && box.state == "running"
		s.mu.Unlock()
		switch {
		case !runs:
			reply(w, 502, map[string]any{"sandboxId": r.Header.Get("E2b-Sandbox-Id"), "message": "The sandbox was not found", "code": 502})
		case r.Header.Get("X-Access-Token") != box.token:
			refuse(w, 401, "Invalid token")
		case r.Header.Get("X-API-KEY") != "" && r.Header.Get("User-Agent") == "Go-http-client/1.1":
			refuse(w, 400, "the key of the API was sent to a sandbox")
		default:
			h(w, r, box)
		}
	}
}

// frames writes the frames of an answer.
type frames struct {
	mu sync.Mutex
	w  http.ResponseWriter
}

func (f *frames) send(flags byte, v any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, _ := json.Marshal(v)
	head := make([]byte, 5)
	head[0] = flags
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	_, _ = f.w.Write(append(head, data...))
	f.w.(http.Flusher).Flush()
}

type e2bStream struct {
	to   *frames
	name string
}

func (s e2bStream) Write(p []byte) (int, error) {
	s.to.send(0, map[string]any{"event": map[string]any{"data": map[string][]byte{s.name: p}}})
	return len(p), nil
}

func (s *e2bServer) start(w http.ResponseWriter, r *http.Request, box *e2bBox) {
	body, _ := io.ReadAll(r.Body)
	var in struct {
		Process struct {
			Cmd  string
			Args []string
			Envs map[string]string
			Cwd  string
		}
	}
	if len(body) < 5 || json.Unmarshal(body[5:], &in) != nil {
		refuse(w, 400, "not a frame of JSON")
		return
	}
	w.Header().Set("Content-Type", "application/connect+json")
	out := &frames{w: w}
	c := box.command(append([]string{in.Process.Cmd}, in.Process.Args...)...)
	for name, value := range in.Process.Envs {
		c.Env = append(c.Env, name+"="+value)
	}
	if in.Process.Cwd != "" {
		c.Dir = in.Process.Cwd
	}
	if _, err := exec.LookPath(in.Process.Cmd); err != nil {
		out.send(2, map[string]any{"error": map[string]string{"code": "invalid_argument", "message": err.Error()}})
		return
	}
	c.Stdout, c.Stderr = e2bStream{out, "stdout"}, e2bStream{out, "stderr"}
	began := make(chan int)
	go func() {
		out.send(0, map[string]any{"event": map[string]any{"start": map[string]int{"pid": <-began}}})
		close(began)
	}()
	code := box.runSaying(c, func(pid int) { began <- pid; <-began })
	end := map[string]any{"exited": true, "status": c.ProcessState.String()}
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		end, code = map[string]any{"status": "signal: " + status.Signal().String()}, -1
	}
	if code != 0 {
		end["exitCode"] = code
	}
	out.send(0, map[string]any{"event": map[string]any{"end": end}})
	out.send(2, map[string]any{})
}

func (s *e2bServer) signal(w http.ResponseWriter, r *http.Request, box *e2bBox) {
	var in struct{ Process struct{ PID int } }
	decode(r, &in)
	box.mu.Lock()
	defer box.mu.Unlock()
	for c := range box.running {
		if c.Process.Pid == in.Process.PID {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			reply(w, 200, map[string]any{})
			return
		}
	}
	reply(w, 404, map[string]string{"code": "not_found", "message": "process not found"})
}

func (s *e2bServer) upload(w http.ResponseWriter, r *http.Request, box *e2bBox) {
	file, _, err := r.FormFile("file")
	if err != nil {
		refuse(w, 400, err.Error())
		return
	}
	data, _ := io.ReadAll(file)
	path := r.URL.Query().Get("path")
	if err := box.write(path, data); err != nil {
		refuse(w, 400, err.Error())
		return
	}
	reply(w, 200, []map[string]string{{"name": filepath.Base(path), "type": "file", "path": path}})
}

func (s *e2bServer) download(w http.ResponseWriter, r *http.Request, box *e2bBox) {
	data, err := os.ReadFile(box.path(r.URL.Query().Get("path")))
	if err != nil {
		refuse(w, 404, "file not found")
		return
	}
	_, _ = w.Write(data)
}

func (s *e2bServer) listDir(w http.ResponseWriter, r *http.Request, box *e2bBox) {
	var in struct{ Path string }
	decode(r, &in)
	entries := []map[string]any{}
	list, _ := os.ReadDir(box.path(in.Path))
	for _, e := range list {
		entries = append(entries, map[string]any{"name": e.Name(), "type": "FILE_TYPE_FILE", "path": filepath.Join(in.Path, e.Name())})
	}
	reply(w, 200, map[string]any{"entries": entries})
}
