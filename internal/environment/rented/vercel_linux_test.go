package rented_test

import (
	"archive/tar"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"hermes/internal/environment/rented"
	"hermes/internal/environment/vercel"
)

// vercelServer speaks the public API of Vercel Sandbox.
type vercelServer struct {
	record
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	boxes    map[string]*vercelBox // by name
	sessions map[string]*vercelSession
}

type vercelBox struct {
	*machine
	name       string
	persistent bool
	session    *vercelSession
}

type vercelSession struct {
	id, status string
	box        *vercelBox
	commands   map[string]*vercelCommand
}

type vercelCommand struct {
	mu    sync.Mutex
	cmd   *exec.Cmd
	shown map[string]any
	logs  []map[string]any
	ended chan struct{}
}

func newVercel(t *testing.T) *vercelServer {
	s := &vercelServer{t: t, boxes: map[string]*vercelBox{}, sessions: map[string]*vercelSession{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v2/sandboxes", s.create)
	mux.HandleFunc("POST /api/v3/sandboxes", s.create)
	mux.HandleFunc("GET /api/v2/sandboxes", s.list)
	mux.HandleFunc("GET /api/v2/sandboxes/{name}", s.get)
	mux.HandleFunc("DELETE /api/v2/sandboxes/{name}", s.remove)
	mux.HandleFunc("POST /api/v2/sandboxes/sessions/{id}/stop", s.inside(s.stop))
	mux.HandleFunc("POST /api/v2/sandboxes/sessions/{id}/cmd", s.inside(s.run))
	mux.HandleFunc("GET /api/v2/sandboxes/sessions/{id}/cmd/{cmd}", s.inside(s.command))
	mux.HandleFunc("GET /api/v2/sandboxes/sessions/{id}/cmd/{cmd}/logs", s.inside(s.logs))
	mux.HandleFunc("POST /api/v2/sandboxes/sessions/{id}/cmd/{cmd}/kill", s.inside(s.kill))
	mux.HandleFunc("POST /api/v2/sandboxes/sessions/{id}/fs/write", s.inside(s.write))
	mux.HandleFunc("POST /api/v2/sandboxes/sessions/{id}/fs/read", s.inside(s.read))
	mux.HandleFunc("POST /api/v2/sandboxes/sessions/{id}/fs/mkdir", s.inside(s.mkdir))
	s.Server = httptest.NewServer(s.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key-1" || r.URL.Query().Get("teamId") != "team_1" {
			refuse(w, 403, "Not authorized")
			return
		}
		mux.ServeHTTP(w, r)
	})))
	t.Cleanup(s.Close)
	return s
}

func (s *vercelServer) address() string { return s.URL }

func (s *vercelServer) open(c rented.Config) (*rented.Runner, error) {
	c.BaseURL = s.URL + "/api"
	return vercel.New(vercel.Config{Config: c, Token: "key-1", Team: "team_1", Project: "prj_1"})
}

func (s *vercelServer) create(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ProjectID, Name, Runtime string
		Persistent               bool
	}
	if !decode(r, &in) || in.ProjectID != "prj_1" || (in.Runtime != "") != strings.Contains(r.URL.Path, "/v2/") {
		refuse(w, 400, "bad request")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Name == "" {
		in.Name = "sbx-" + strings.ToLower(rand.Text())
	}
	if s.boxes[in.Name] != nil {
		refuse(w, 409, "a sandbox with this name exists")
		return
	}
	box := &vercelBox{machine: newMachine(s.t), name: in.Name, persistent: in.Persistent}
	s.boxes[in.Name] = box
	s.begin(box)
	reply(w, 200, box.shown(false))
}

func (s *vercelServer) begin(box *vercelBox) {
	box.session = &vercelSession{id: "sess-" + rand.Text(), status: "pending", box: box, commands: map[string]*vercelCommand{}}
	s.sessions[box.session.id] = box.session
}

func (b *vercelBox) shown(resumed bool) map[string]any {
	return map[string]any{
		"sandbox": map[string]any{
			"name": b.name, "persistent": b.persistent, "createdAt": 1, "updatedAt": 1, "currentSessionId": b.session.id, "status": b.session.status,
		},
		"session": b.session.shown(), "routes": []any{}, "resumed": resumed,
	}
}

func (v *vercelSession) shown() map[string]any {
	return map[string]any{
		"id": v.id, "memory": 2048, "vcpus": 1, "region": "iad1", "timeout": 300000, "status": v.status,
		"requestedAt": 1, "createdAt": 1, "updatedAt": 1, "cwd": v.box.home,
	}
}

func (s *vercelServer) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	boxes := []any{}
	for _, box := range s.boxes {
		boxes = append(boxes, box.shown(false)["sandbox"])
	}
	reply(w, 200, map[string]any{"sandboxes": boxes, "pagination": map[string]any{"count": len(boxes), "next": nil}})
}

// get shows a sandbox. A session that begins runs after it was looked at.
func (s *vercelServer) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.boxes[r.PathValue("name")]
	if box == nil {
		refuse(w, 404, "Sandbox not found")
		return
	}
	resumed := r.URL.Query().Get("resume") == "true" && box.session.status == "stopped" && box.persistent
	if resumed {
		s.begin(box)
	}
	reply(w, 200, box.shown(resumed))
	if box.session.status == "pending" {
		box.session.status = "running"
	}
}

func (s *vercelServer) remove(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.boxes[r.PathValue("name")]
	if box == nil {
		refuse(w, 404, "Sandbox not found")
		return
	}
	box.stop()
	box.session.status = "stopped"
	delete(s.boxes, box.name)
	reply(w, 200, box.shown(false))
}

func (s *vercelServer) inside(h func(http.ResponseWriter, *http.Request, *vercelSession)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		session := s.sessions[r.PathValue("id")]
		if session != nil && session.status == "pending" { // the vendor's client waits by trying
			session.status = "running"
		}
		runs := session != nil && session.status == "running"
		s.mu.Unlock()
		switch {
		case session == nil:
			refuse(w, 404, "Session not found")
		case !runs:
			refuse(w, 410, "The sandbox has stopped")
		default:
			h(w, r, session)
		}
	}
}

func (s *vercelServer) stop(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.box.stop()
	v.status = "stopped"
	reply(w, 200, map[string]any{"session": v.shown()})
}

func (s *vercelServer) run(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	var in struct {
		Command, Cwd string
		Args         []string
		Env          map[string]string
		Wait, Logs   bool
	}
	if !decode(r, &in) || in.Command == "" {
		refuse(w, 400, "bad request")
		return
	}
	if in.Args == nil {
		in.Args = []string{}
	}
	command := &vercelCommand{cmd: v.box.command(append([]string{in.Command}, in.Args...)...), ended: make(chan struct{})}
	for name, value := range in.Env {
		command.cmd.Env = append(command.cmd.Env, name+"="+value)
	}
	if in.Cwd != "" {
		command.cmd.Dir = in.Cwd
	}
	id := "cmd_" + rand.Text()
	command.shown = map[string]any{"id": id, "name": in.Command, "args": in.Args, "cwd": v.box.home, "sessionId": v.id, "exitCode": nil, "startedAt": 1}
	s.mu.Lock()
	v.commands[id] = command
	s.mu.Unlock()
	live := make(chan map[string]any, 1000)
	command.cmd.Stdout = &vercelLog{command, "stdout", live, in.Wait}
	command.cmd.Stderr = &vercelLog{command, "stderr", live, in.Wait}
	first := command.json()
	go func() {
		code := v.box.run(command.cmd)
		command.mu.Lock()
		command.shown["exitCode"] = code
		command.mu.Unlock()
		close(live)
		close(command.ended)
	}()
	if !in.Wait {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(first)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	send := func(line []byte) {
		_, _ = w.Write(append(line, '\n'))
		w.(http.Flusher).Flush()
	}
	send(first)
	for part := range live {
		if line, err := json.Marshal(part); err == nil && in.Logs {
			send(line)
		}
	}
	send(command.json())
}

func (c *vercelCommand) json() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	line, _ := json.Marshal(map[string]any{"command": c.shown})
	return line
}

type vercelLog struct {
	command *vercelCommand
	stream  string
	live    chan map[string]any
	wait    bool
}

func (l *vercelLog) Write(p []byte) (int, error) {
	part := map[string]any{"stream": l.stream, "data": string(p)} // other bytes than text are changed by JSON
	l.command.mu.Lock()
	l.command.logs = append(l.command.logs, part)
	l.command.mu.Unlock()
	if l.wait {
		l.live <- part
	}
	return len(p), nil
}

func (s *vercelServer) find(w http.ResponseWriter, r *http.Request, v *vercelSession) *vercelCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	command := v.commands[r.PathValue("cmd")]
	if command == nil {
		refuse(w, 404, "Command not found")
	}
	return command
}

func (s *vercelServer) command(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	if command := s.find(w, r, v); command != nil {
		if r.URL.Query().Get("wait") == "true" {
			<-command.ended
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(command.json())
	}
}

func (s *vercelServer) logs(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	if command := s.find(w, r, v); command != nil {
		<-command.ended
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, part := range command.logs {
			_ = json.NewEncoder(w).Encode(part)
		}
	}
}

func (s *vercelServer) kill(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	command := s.find(w, r, v)
	if command == nil {
		return
	}
	var in struct{ Signal int }
	decode(r, &in)
	v.box.mu.Lock()
	if v.box.running[command.cmd] {
		_ = syscall.Kill(-command.cmd.Process.Pid, syscall.Signal(in.Signal))
	}
	v.box.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(command.json())
}

func (s *vercelServer) write(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	unzipped, err := gzip.NewReader(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/gzip" {
		refuse(w, 400, "not gzip")
		return
	}
	for archive := tar.NewReader(unzipped); ; {
		head, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			refuse(w, 400, err.Error())
			return
		}
		data, _ := io.ReadAll(archive)
		path := filepath.Join(r.Header.Get("x-cwd"), head.Name)
		if rest, ok := strings.CutPrefix(path, "/vercel/sandbox/"); ok {
			path = rest // the home of a real sandbox
		}
		if err := v.box.write(path, data); err != nil {
			refuse(w, 400, err.Error())
			return
		}
	}
	reply(w, 200, map[string]any{})
}

func (s *vercelServer) read(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	var in struct{ Path string }
	decode(r, &in)
	data, err := os.ReadFile(v.box.path(in.Path))
	if err != nil {
		refuse(w, 404, "File not found")
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(data)
}

func (s *vercelServer) mkdir(w http.ResponseWriter, r *http.Request, v *vercelSession) {
	var in struct{ Path string }
	decode(r, &in)
	if err := os.Mkdir(v.box.path(in.Path), 0o755); err != nil {
		refuse(w, 400, err.Error())
		return
	}
	reply(w, 200, map[string]any{})
}
