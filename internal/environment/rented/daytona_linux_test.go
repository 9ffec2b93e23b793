package rented_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"hermes/internal/environment/daytona"
	"hermes/internal/environment/rented"
)

// daytonaServer speaks the public API of Daytona: the API and, under /toolbox, what runs in
// each sandbox.
type daytonaServer struct {
	record
	*httptest.Server
	t     *testing.T
	mu    sync.Mutex
	more  *sync.Cond // a log has grown or ended, or a sandbox was stopped
	boxes map[string]*daytonaBox
}

type daytonaBox struct {
	*machine
	fields   map[string]any
	state    string
	sessions map[string]map[string]*daytonaCommand
}

type daytonaCommand struct {
	cmd       *exec.Cmd
	text      string
	log       []byte
	out, errs bytes.Buffer
	code      *int
}

func newDaytona(t *testing.T) *daytonaServer {
	s := &daytonaServer{t: t, boxes: map[string]*daytonaBox{}}
	s.more = sync.NewCond(&s.mu)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/sandbox", s.create)
	mux.HandleFunc("GET /api/sandbox", s.list)
	mux.HandleFunc("GET /api/sandbox/{id}", s.get)
	mux.HandleFunc("DELETE /api/sandbox/{id}", s.move("destroyed"))
	mux.HandleFunc("POST /api/sandbox/{id}/start", s.move("starting"))
	mux.HandleFunc("POST /api/sandbox/{id}/stop", s.move("stopped"))
	mux.HandleFunc("POST /toolbox/{id}/process/execute", s.inside(s.execute))
	mux.HandleFunc("POST /toolbox/{id}/process/session", s.inside(s.session))
	mux.HandleFunc("DELETE /toolbox/{id}/process/session/{session}", s.inside(s.endSession))
	mux.HandleFunc("POST /toolbox/{id}/process/session/{session}/exec", s.inside(s.begin))
	mux.HandleFunc("GET /toolbox/{id}/process/session/{session}/command/{command}", s.inside(s.command))
	mux.HandleFunc("GET /toolbox/{id}/process/session/{session}/command/{command}/logs", s.inside(s.logs))
	mux.HandleFunc("POST /toolbox/{id}/files/bulk-upload", s.inside(s.upload))
	mux.HandleFunc("POST /toolbox/{id}/files/bulk-download", s.inside(s.download))
	mux.HandleFunc("GET /toolbox/{id}/work-dir", s.inside(func(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
		reply(w, 200, map[string]string{"dir": box.home})
	}))
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

func (s *daytonaServer) address() string { return s.URL }

func (s *daytonaServer) open(c rented.Config) (*rented.Runner, error) {
	c.BaseURL = s.URL + "/api"
	return daytona.New(daytona.Config{Config: c, Key: "key-1"})
}

func (s *daytonaServer) create(w http.ResponseWriter, r *http.Request) {
	box := &daytonaBox{machine: newMachine(s.t), state: "pending_build", sessions: map[string]map[string]*daytonaCommand{}}
	if !decode(r, &box.fields) {
		refuse(w, 400, "not JSON")
		return
	}
	id := "box-" + rand.Text()
	for name, value := range map[string]any{
		"id": id, "organizationId": "org", "name": id, "user": "daytona", "env": map[string]string{}, "public": false,
		"networkBlockAll": false, "kvm": false, "target": "eu", "cpu": 1, "gpu": 0, "memory": 1, "disk": 3, "toolboxProxyUrl": s.URL + "/toolbox",
	} {
		box.fields[name] = value
	}
	if build, ok := box.fields["buildInfo"].(map[string]any); ok {
		build["createdAt"], build["updatedAt"], build["snapshotRef"] = "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "ref"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.boxes[id] = box
	reply(w, 200, box.shown())
}

func (b *daytonaBox) shown() map[string]any {
	b.fields["state"] = b.state
	return b.fields
}

func (s *daytonaServer) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := map[string]string{}
	_ = json.Unmarshal([]byte(r.URL.Query().Get("labels")), &want) // none means all
	items := []map[string]any{}
	for _, box := range s.boxes {
		has, _ := box.fields["labels"].(map[string]any)
		fits := true
		for name, value := range want {
			fits = fits && has[name] == value
		}
		if fits {
			items = append(items, box.shown())
		}
	}
	reply(w, 200, map[string]any{"items": items, "nextCursor": nil})
}

// get shows a sandbox. One that begins runs after it was looked at.
func (s *daytonaServer) get(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.boxes[r.PathValue("id")]
	if box == nil {
		refuse(w, 404, "Sandbox not found")
		return
	}
	reply(w, 200, box.shown())
	if box.state == "pending_build" || box.state == "starting" {
		box.state = "started"
	}
}

func (s *daytonaServer) move(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		box := s.boxes[r.PathValue("id")]
		if box == nil {
			refuse(w, 404, "Sandbox not found")
			return
		}
		if to != "starting" {
			box.stop()
			box.sessions = map[string]map[string]*daytonaCommand{}
		}
		if box.state = to; to == "destroyed" {
			delete(s.boxes, r.PathValue("id"))
		}
		s.more.Broadcast()
		reply(w, 200, box.shown())
	}
}

// inside answers for a sandbox that runs.
func (s *daytonaServer) inside(h func(http.ResponseWriter, *http.Request, *daytonaBox)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		box := s.boxes[r.PathValue("id")]
		started := box != nil && box.state == "started"
		s.mu.Unlock()
		switch {
		case box == nil:
			refuse(w, 404, "Sandbox not found")
		case !started:
			refuse(w, 400, "the sandbox is not running")
		default:
			h(w, r, box)
		}
	}
}

func (s *daytonaServer) execute(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	var in struct{ Command string }
	decode(r, &in)
	c := box.machine.command("sh", "-c", in.Command)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	code := box.run(c)
	reply(w, 200, map[string]any{"exitCode": code, "result": out.String()})
}

func (s *daytonaServer) session(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	var in struct{ SessionID string }
	decode(r, &in)
	s.mu.Lock()
	defer s.mu.Unlock()
	box.sessions[in.SessionID] = map[string]*daytonaCommand{}
	w.WriteHeader(201)
}

func (s *daytonaServer) endSession(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, command := range box.sessions[r.PathValue("session")] {
		box.kill(command.cmd)
	}
	delete(box.sessions, r.PathValue("session"))
	w.WriteHeader(204)
}

func (s *daytonaServer) begin(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	var in struct {
		Command  string
		RunAsync bool
	}
	decode(r, &in)
	s.mu.Lock()
	session := box.sessions[r.PathValue("session")]
	if session == nil {
		s.mu.Unlock()
		refuse(w, 404, "session not found")
		return
	}
	id := rand.Text()
	command := &daytonaCommand{cmd: box.machine.command("sh", "-c", in.Command), text: in.Command}
	command.cmd.Stdout = &daytonaLog{s, command, &command.out, "\x01\x01\x01"}
	command.cmd.Stderr = &daytonaLog{s, command, &command.errs, "\x02\x02\x02"}
	session[id] = command
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		code := box.run(command.cmd)
		s.mu.Lock()
		defer s.mu.Unlock()
		command.code = &code
		s.more.Broadcast()
		close(ended)
	}()
	if in.RunAsync {
		reply(w, 202, map[string]string{"cmdId": id})
		return
	}
	<-ended
	reply(w, 200, map[string]any{
		"cmdId": id, "exitCode": *command.code, "stdout": command.out.String(), "stderr": command.errs.String(),
		"output": command.out.String() + command.errs.String(),
	})
}

// daytonaLog writes one stream into the log of a command.
type daytonaLog struct {
	s       *daytonaServer
	command *daytonaCommand
	whole   *bytes.Buffer
	mark    string
}

func (l *daytonaLog) Write(p []byte) (int, error) {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	l.command.log = append(append(l.command.log, l.mark...), p...)
	l.s.more.Broadcast()
	return l.whole.Write(p)
}

func (s *daytonaServer) find(r *http.Request, box *daytonaBox) *daytonaCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return box.sessions[r.PathValue("session")][r.PathValue("command")]
}

func (s *daytonaServer) command(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	command := s.find(r, box)
	if command == nil {
		refuse(w, 404, "command not found")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	reply(w, 200, map[string]any{"id": r.PathValue("command"), "command": command.text, "exitCode": command.code})
}

func (s *daytonaServer) logs(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	command := s.find(r, box)
	if command == nil {
		refuse(w, 404, "command not found")
		return
	}
	if r.URL.Query().Get("follow") != "true" {
		s.mu.Lock()
		defer s.mu.Unlock()
		out, errs := command.out.String(), command.errs.String()
		reply(w, 200, map[string]string{"output": out + errs, "stdout": out, "stderr": errs})
		return
	}
	conn, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx := conn.CloseRead(context.Background()) // commands also run while the test cleans up
	for sent := 0; ; {
		s.mu.Lock()
		for len(command.log) == sent && command.code == nil && box.state == "started" {
			s.more.Wait()
		}
		part := bytes.Clone(command.log[sent:])
		ended := command.code != nil
		s.mu.Unlock()
		if sent += len(part); len(part) > 0 {
			if conn.Write(ctx, websocket.MessageBinary, part) != nil {
				return
			}
			continue
		}
		if ended {
			_ = conn.Close(websocket.StatusNormalClosure, "")
		}
		return
	}
}

func (s *daytonaServer) upload(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	form, err := r.MultipartReader()
	if err != nil {
		refuse(w, 400, err.Error())
		return
	}
	paths := map[string]string{}
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			refuse(w, 400, err.Error())
			return
		}
		data, _ := io.ReadAll(part)
		if name, ok := strings.CutSuffix(part.FormName(), ".path"); ok {
			paths[name] = string(data)
			continue
		}
		name := strings.TrimSuffix(part.FormName(), ".file")
		if err := box.write(paths[name], data); err != nil {
			refuse(w, 400, err.Error())
			return
		}
	}
	w.WriteHeader(200)
}

func (s *daytonaServer) download(w http.ResponseWriter, r *http.Request, box *daytonaBox) {
	var in struct{ Paths []string }
	decode(r, &in)
	form := multipart.NewWriter(w)
	w.Header().Set("Content-Type", form.FormDataContentType())
	for _, path := range in.Paths {
		field := "file"
		data, err := os.ReadFile(box.path(path))
		if err != nil {
			field, data = "error", []byte(err.Error())
		}
		part, err := form.CreateFormFile(field, path)
		if err != nil {
			return
		}
		_, _ = part.Write(data)
	}
	_ = form.Close()
}
