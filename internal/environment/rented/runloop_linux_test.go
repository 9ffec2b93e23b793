package rented_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"hermes/internal/environment/rented"
	"hermes/internal/environment/runloop"
)

// runloopServer speaks the public API of Runloop.
type runloopServer struct {
	record
	*httptest.Server
	t     *testing.T
	mu    sync.Mutex
	more  *sync.Cond // a stream has grown or ended, or a devbox has changed
	boxes map[string]*runloopBox
}

type runloopBox struct {
	*machine
	fields map[string]any
	status string
	runs   map[string]*runloopRun
}

type runloopRun struct {
	cmd  *exec.Cmd
	box  *runloopBox
	out  map[string][]byte // stdout, stderr
	code *int
}

func newRunloop(t *testing.T) *runloopServer {
	s := &runloopServer{t: t, boxes: map[string]*runloopBox{}}
	s.more = sync.NewCond(&s.mu)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/devboxes", s.create)
	mux.HandleFunc("POST /v1/devboxes/create_and_await_running", s.create)
	mux.HandleFunc("GET /v1/devboxes", s.list)
	mux.HandleFunc("GET /v1/devboxes/{id}", s.get)
	mux.HandleFunc("POST /v1/devboxes/{id}/wait_for_status", s.get)
	mux.HandleFunc("POST /v1/devboxes/{id}/resume", s.move("resuming"))
	mux.HandleFunc("POST /v1/devboxes/{id}/suspend", s.move("suspended"))
	mux.HandleFunc("POST /v1/devboxes/{id}/shutdown", s.move("shutdown"))
	mux.HandleFunc("POST /v1/devboxes/{id}/execute_async", s.inside(s.begin))
	mux.HandleFunc("POST /v1/devboxes/{id}/execute", s.inside(s.execute))
	mux.HandleFunc("POST /v1/devboxes/{id}/execute_sync", s.inside(s.execute))
	mux.HandleFunc("POST /v1/devboxes/{id}/executions/{run}/wait_for_status", s.inside(s.wait))
	mux.HandleFunc("GET /v1/devboxes/{id}/executions/{run}", s.inside(s.state))
	mux.HandleFunc("POST /v1/devboxes/{id}/executions/{run}/kill", s.inside(s.kill))
	mux.HandleFunc("GET /v1/devboxes/{id}/executions/{run}/stream_stdout_updates", s.inside(s.stream("stdout")))
	mux.HandleFunc("GET /v1/devboxes/{id}/executions/{run}/stream_stderr_updates", s.inside(s.stream("stderr")))
	mux.HandleFunc("POST /v1/devboxes/{id}/upload_file", s.inside(s.upload))
	mux.HandleFunc("POST /v1/devboxes/{id}/write_file_contents", s.inside(s.write))
	mux.HandleFunc("POST /v1/devboxes/{id}/read_file_contents", s.inside(s.read))
	s.Server = httptest.NewServer(s.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key-1" {
			refuse(w, 401, "Unauthorized")
			return
		}
		mux.ServeHTTP(w, r)
	})))
	t.Cleanup(s.Close)
	return s
}

func (s *runloopServer) address() string { return s.URL }

func (s *runloopServer) open(c rented.Config) (*rented.Runner, error) {
	c.BaseURL = s.URL
	return runloop.New(runloop.Config{Config: c, Key: "key-1"})
}

func (s *runloopServer) create(w http.ResponseWriter, r *http.Request) {
	box := &runloopBox{machine: newMachine(s.t), status: "provisioning", runs: map[string]*runloopRun{}, fields: map[string]any{}}
	_ = json.NewDecoder(r.Body).Decode(&box.fields) // everything may be left out
	box.fields["id"] = "dbx_" + rand.Text()
	box.fields["capabilities"], box.fields["create_time_ms"], box.fields["state_transitions"] = []any{}, 1, []any{}
	if box.fields["launch_parameters"] == nil {
		box.fields["launch_parameters"] = map[string]any{}
	}
	if box.fields["metadata"] == nil {
		box.fields["metadata"] = map[string]any{}
	}
	if r.URL.Path != "/v1/devboxes" {
		box.status = "running"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boxes[box.fields["id"].(string)] = box
	reply(w, 200, box.shown())
}

func (b *runloopBox) shown() map[string]any {
	b.fields["status"] = b.status
	return b.fields
}

func (s *runloopServer) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []any{}
	for _, box := range s.boxes {
		if status := r.URL.Query().Get("status"); status == "" || status == box.status {
			list = append(list, box.shown())
		}
	}
	reply(w, 200, map[string]any{"devboxes": list, "has_more": false})
}

// get shows a devbox. One that begins runs after it was looked at.
func (s *runloopServer) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.boxes[r.PathValue("id")]
	if box == nil {
		refuse(w, 404, "Devbox not found")
		return
	}
	if r.Method == "POST" && (box.status == "provisioning" || box.status == "resuming") {
		box.status = "running" // the caller waits
	}
	reply(w, 200, box.shown())
	if box.status == "provisioning" || box.status == "resuming" {
		box.status = "running"
	}
}

func (s *runloopServer) move(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		box := s.boxes[r.PathValue("id")]
		if box == nil {
			refuse(w, 404, "Devbox not found")
			return
		}
		if to != "resuming" {
			box.stop()
		}
		box.status = to
		s.more.Broadcast()
		reply(w, 200, box.shown())
	}
}

func (s *runloopServer) inside(h func(http.ResponseWriter, *http.Request, *runloopBox)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		box := s.boxes[r.PathValue("id")]
		runs := box != nil && box.status == "running"
		s.mu.Unlock()
		switch {
		case box == nil:
			refuse(w, 404, "Devbox not found")
		case !runs:
			refuse(w, 400, "Devbox is not running")
		default:
			h(w, r, box)
		}
	}
}

type runloopStream struct {
	s    *runloopServer
	run  *runloopRun
	name string
}

func (o runloopStream) Write(p []byte) (int, error) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	o.run.out[o.name] = append(o.run.out[o.name], p...)
	o.s.more.Broadcast()
	return len(p), nil
}

// run starts a command and returns its id.
func (s *runloopServer) run(box *runloopBox, command string) (string, *runloopRun) {
	id := "exec_" + rand.Text()
	run := &runloopRun{cmd: box.command("bash", "-c", command), box: box, out: map[string][]byte{}}
	run.cmd.Stdout, run.cmd.Stderr = runloopStream{s, run, "stdout"}, runloopStream{s, run, "stderr"}
	s.mu.Lock()
	box.runs[id] = run
	s.mu.Unlock()
	go func() {
		code := box.machine.run(run.cmd)
		s.mu.Lock()
		defer s.mu.Unlock()
		run.code = &code
		s.more.Broadcast()
	}()
	return id, run
}

func (s *runloopServer) begin(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	var in struct{ Command string }
	decode(r, &in)
	id, run := s.run(box, in.Command)
	s.mu.Lock()
	defer s.mu.Unlock()
	reply(w, 200, run.shown(box, id))
}

func (run *runloopRun) shown(box *runloopBox, id string) map[string]any {
	status := "running"
	if run.code != nil {
		status = "completed"
	}
	return map[string]any{
		"devbox_id": box.fields["id"], "execution_id": id, "status": status, "exit_status": run.code,
		"stdout": string(run.out["stdout"]), "stderr": string(run.out["stderr"]),
	}
}

// execute begins a command and answers at its end.
func (s *runloopServer) execute(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	var in struct{ Command string }
	decode(r, &in)
	id, run := s.run(box, in.Command)
	s.mu.Lock()
	defer s.mu.Unlock()
	for run.code == nil {
		s.more.Wait()
	}
	reply(w, 200, run.shown(box, id))
}

func (s *runloopServer) find(r *http.Request, box *runloopBox) *runloopRun {
	s.mu.Lock()
	defer s.mu.Unlock()
	return box.runs[r.PathValue("run")]
}

func (s *runloopServer) state(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	run := s.find(r, box)
	if run == nil {
		refuse(w, 404, "Execution not found")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reply(w, 200, run.shown(box, r.PathValue("run")))
}

func (s *runloopServer) wait(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	if run := s.find(r, box); run != nil {
		s.mu.Lock()
		for run.code == nil {
			s.more.Wait()
		}
		s.mu.Unlock()
	}
	s.state(w, r, box)
}

func (s *runloopServer) kill(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	if run := s.find(r, box); run != nil {
		box.kill(run.cmd)
	}
	s.state(w, r, box)
}

func (s *runloopServer) stream(name string) func(http.ResponseWriter, *http.Request, *runloopBox) {
	return func(w http.ResponseWriter, r *http.Request, box *runloopBox) {
		run := s.find(r, box)
		if run == nil {
			refuse(w, 404, "Execution not found")
			return
		}
		sent, _ := strconv.Atoi(r.URL.Query().Get("offset"))
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			s.mu.Lock()
			for len(run.out[name]) <= sent && run.code == nil && box.status == "running" {
				s.more.Wait()
			}
			part := string(run.out[name][min(sent, len(run.out[name])):])
			s.mu.Unlock()
			if part == "" {
				return
			}
			data, _ := json.Marshal(map[string]any{"output": part, "offset": sent})
			sent += len(part)
			if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

func (s *runloopServer) upload(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	file, _, err := r.FormFile("file")
	if err != nil {
		refuse(w, 400, err.Error())
		return
	}
	data, _ := io.ReadAll(file)
	if err := box.write(r.FormValue("path"), data); err != nil {
		refuse(w, 400, err.Error())
		return
	}
	reply(w, 200, map[string]any{})
}

func (s *runloopServer) write(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	var in struct {
		Path     string `json:"file_path"`
		Contents string
	}
	decode(r, &in)
	if err := box.machine.write(in.Path, []byte(in.Contents)); err != nil {
		refuse(w, 400, err.Error())
		return
	}
	reply(w, 200, map[string]any{"devbox_id": box.fields["id"], "exit_status": 0, "stdout": "", "stderr": ""})
}

func (s *runloopServer) read(w http.ResponseWriter, r *http.Request, box *runloopBox) {
	var in struct {
		Path string `json:"file_path"`
	}
	decode(r, &in)
	data, err := os.ReadFile(box.path(in.Path))
	if err != nil {
		refuse(w, 404, "file not found")
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write(data)
}
