package rented_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes/internal/environment/modal"
	"hermes/internal/environment/rented"
)

// modalServer speaks what Modal's own client speaks: gRPC, for the API and for what runs
// sandboxes.
type modalServer struct {
	record
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	more   *sync.Cond
	boxes  map[string]*modalBox // by id
	tasks  map[string]*modalBox
	images map[string]string // id to a folder with files, "" for none
	file   string            // of stored images
	expire bool              // the token for the worker has ended
}

type modalBox struct {
	*machine
	id, task, app string
	tags          map[string]string
	looks         int
	ended         bool
	runs          map[string]*modalRun
}

type modalRun struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	out   [2][]byte
	code  *int
}

// pb is a message: numbers and texts by field. It is another coder than the program's.
type pb map[int][]any

func (m pb) text(n int) string {
	if len(m[n]) == 0 {
		return ""
	}
	return string(m[n][0].([]byte))
}

func (m pb) number(n int) int {
	if len(m[n]) == 0 {
		return 0
	}
	return int(m[n][0].(uint64))
}

func (m pb) texts(n int) (list []string) {
	for _, v := range m[n] {
		list = append(list, string(v.([]byte)))
	}
	return list
}

func readPB(data []byte) pb {
	m := pb{}
	for r := bytes.NewReader(data); r.Len() > 0; {
		tag, _ := binary.ReadUvarint(r)
		n := int(tag >> 3)
		switch tag & 7 {
		case 0:
			v, _ := binary.ReadUvarint(r)
			m[n] = append(m[n], v)
		case 1:
			_, _ = r.Seek(8, io.SeekCurrent)
		case 2:
			size, _ := binary.ReadUvarint(r)
			part := make([]byte, size)
			_, _ = io.ReadFull(r, part)
			m[n] = append(m[n], part)
		case 5:
			_, _ = r.Seek(4, io.SeekCurrent)
		}
	}
	return m
}

// write encodes pairs of a field and its value.
func writePB(pairs ...any) (out []byte) {
	for i := 0; i < len(pairs); i += 2 {
		n := uint64(pairs[i].(int))
		switch v := pairs[i+1].(type) {
		case int:
			out = binary.AppendUvarint(binary.AppendUvarint(out, n<<3), uint64(v))
		case string:
			out = binary.AppendUvarint(binary.AppendUvarint(out, n<<3|2), uint64(len(v)))
			out = append(out, v...)
		case []byte:
			out = append(out, writePB(pairs[i], string(v))...)
		}
	}
	return out
}

// modalCall is one call to the server.
type modalCall struct {
	w  http.ResponseWriter
	r  *http.Request
	in pb
}

func (c *modalCall) send(data []byte) {
	head := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(data)))
	_, _ = c.w.Write(append(head, data...))
	c.w.(http.Flusher).Flush()
}

// grpcError is a status of gRPC.
type grpcError struct {
	code int
	said string
}

func (e grpcError) Error() string { return e.said }

var errNoBox = grpcError{5, "Sandbox not found"}

func newModal(t *testing.T) *modalServer {
	s := &modalServer{t: t, boxes: map[string]*modalBox{}, tasks: map[string]*modalBox{}, images: map[string]string{}}
	s.file = filepath.Join(t.TempDir(), "images.json")
	s.more = sync.NewCond(&s.mu)
	s.Server = httptest.NewUnstartedServer(s.wrap(http.HandlerFunc(s.serve)))
	s.Server.Config.Protocols = &http.Protocols{}
	s.Server.Config.Protocols.SetHTTP1(true)
	s.Server.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *modalServer) address() string { return s.URL }

// plainHTTP2 makes a transport speak HTTP/2 without TLS.
func plainHTTP2(t *http.Transport) *http.Client {
	t.Protocols = &http.Protocols{}
	t.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: t}
}

func (s *modalServer) open(c rented.Config) (*rented.Runner, error) {
	c.BaseURL = s.URL
	if c.HTTP == nil {
		c.HTTP = &http.Client{Transport: &http.Transport{}}
		s.t.Cleanup(c.HTTP.CloseIdleConnections)
	}
	if t, ok := c.HTTP.Transport.(*http.Transport); ok {
		c.HTTP = plainHTTP2(t)
	}
	return modal.New(modal.Config{Config: c, TokenID: "ak-1", TokenSecret: "as-1", SnapshotFile: s.file})
}

func (s *modalServer) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/grpc+proto")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	err := s.answer(&modalCall{w, r, readPB(body[min(5, len(body)):])})
	if err == nil {
		w.Header().Set("Grpc-Status", "0")
		return
	}
	status := err.(grpcError)
	w.Header().Set("Grpc-Status", strconv.Itoa(status.code))
	w.Header().Set("Grpc-Message", url.PathEscape(status.said))
}

func (s *modalServer) answer(c *modalCall) error {
	method := c.r.URL.Path[strings.LastIndex(c.r.URL.Path, "/")+1:]
	if strings.HasPrefix(c.r.URL.Path, "/modal.client.ModalClient/") {
		if c.r.Header.Get("x-modal-token-id") != "ak-1" || c.r.Header.Get("x-modal-token-secret") != "as-1" {
			return grpcError{16, "Token ID is malformed"}
		}
		return s.api(c, method)
	}
	s.mu.Lock()
	expired := s.expire
	s.expire = false
	s.mu.Unlock()
	if expired || c.r.Header.Get("authorization") != "Bearer "+jwt() {
		return grpcError{16, "the token has ended"}
	}
	return s.worker(c, method)
}

// jwt is a token that ends in a day.
func jwt() string {
	day := time.Now().UTC().Truncate(24*time.Hour).Unix() + 48*3600
	claims := base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"exp":%d}`, day)))
	return "e30." + claims + ".c2ln"
}

func (s *modalServer) api(c *modalCall, method string) error {
	if strings.HasPrefix(method, "Sandbox") && c.r.Header.Get("x-modal-auth-token") != jwt() {
		return grpcError{16, "no token"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "ClientHello", "AppSetObjects", "AppClientDisconnect", "AppHeartbeat":
		c.send(nil)
	case "AuthTokenGet":
		c.send(writePB(1, jwt()))
	case "AppGetOrCreate":
		c.send(writePB(1, "ap-"+c.in.text(1)))
	case "EnvironmentGetOrCreate":
		c.send(writePB(1, "en-1", 2, writePB(1, "main", 2, writePB(1, "2025.06"))))
	case "ImageGetOrCreate":
		id := "im-" + rand.Text()
		s.images[id] = ""
		c.send(writePB(1, id))
	case "ImageJoinStreaming":
		c.send(writePB(3, "1", 2, ""))
		c.send(writePB(1, writePB(1, 1), 4, 1))
	case "SandboxCreateV2":
		return s.create(c)
	case "SandboxListV2":
		s.list(c)
	case "SandboxWaitV2", "SandboxGetTaskIdV2", "SandboxGetCommandRouterAccess", "SandboxTerminateV2":
		box := s.boxes[c.in.text(1)]
		if box == nil {
			return errNoBox
		}
		s.about(c, method, box)
	default:
		return grpcError{12, method + " is not there"}
	}
	return nil
}

func (s *modalServer) create(c *modalCall) error {
	definition := readPB(c.in[2][0].([]byte))
	folder, ok := s.images[definition.text(3)]
	if !ok {
		return grpcError{5, "Image not found"}
	}
	box := &modalBox{machine: newMachine(s.t), id: "sb-" + rand.Text(), task: "ta-" + rand.Text(), app: c.in.text(1), tags: map[string]string{}, runs: map[string]*modalRun{}}
	if folder != "" {
		_ = os.CopyFS(box.home, os.DirFS(folder))
	}
	for _, tag := range c.in.texts(4) {
		pair := readPB([]byte(tag))
		box.tags[pair.text(1)] = pair.text(2)
	}
	s.boxes[box.id], s.tasks[box.task] = box, box
	c.send(writePB(1, box.id, 3, box.task))
	return nil
}

func (s *modalServer) list(c *modalCall) {
	var out []byte
	for _, box := range s.boxes {
		fits := !box.ended && (c.in.text(1) == "" || c.in.text(1) == box.app)
		for _, tag := range c.in.texts(5) {
			pair := readPB([]byte(tag))
			fits = fits && box.tags[pair.text(1)] == pair.text(2)
		}
		if fits {
			out = append(out, writePB(1, writePB(1, box.id, 4, writePB(1, box.task)))...)
		}
	}
	if c.in[2] != nil { // the next page of the vendor's client
		out = nil
	}
	c.send(out)
}

func (s *modalServer) about(c *modalCall, method string, box *modalBox) {
	switch method {
	case "SandboxWaitV2":
		if box.ended {
			c.send(writePB(1, writePB(1, 3, 3, 137)))
			return
		}
		c.send(nil)
	case "SandboxGetTaskIdV2":
		if box.looks++; box.looks == 1 { // it begins
			c.send(nil)
			return
		}
		c.send(writePB(1, box.task))
	case "SandboxGetCommandRouterAccess":
		c.send(writePB(1, jwt(), 2, s.URL))
	case "SandboxTerminateV2":
		box.ended = true
		box.stop()
		s.more.Broadcast()
		c.send(nil)
	}
}

func (s *modalServer) worker(c *modalCall, method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box := s.tasks[c.in.text(1)]
	if box == nil || box.ended {
		return grpcError{5, "Task not found"}
	}
	run := box.runs[c.in.text(2)]
	if method == "TaskSnapshotFilesystem" {
		id, folder := "im-"+rand.Text(), s.t.TempDir()
		_ = os.CopyFS(folder, os.DirFS(box.home))
		s.images[id] = folder
		c.send(writePB(1, id))
		return nil
	}
	if method == "TaskExecStart" {
		if run == nil {
			s.begin(box, c.in)
		}
		c.send(nil)
		return nil
	}
	if run == nil {
		return grpcError{5, "Exec not found"}
	}
	switch method {
	case "TaskExecStdioRead":
		s.read(c, box, run)
	case "TaskExecStdinWrite":
		s.mu.Unlock()
		_, _ = io.WriteString(run.input, c.in.text(4))
		if c.in.number(5) == 1 {
			_ = run.input.Close()
		}
		s.mu.Lock()
		c.send(nil)
	case "TaskExecWait", "TaskExecPoll":
		for method == "TaskExecWait" && run.code == nil {
			s.more.Wait()
		}
		switch {
		case run.code == nil:
			c.send(nil)
		case *run.code > 128:
			c.send(writePB(2, *run.code-128))
		default:
			c.send(writePB(1, *run.code))
		}
	default:
		return grpcError{12, method + " is not there"}
	}
	return nil
}

type modalStream struct {
	s   *modalServer
	run *modalRun
	n   int
}

func (o modalStream) Write(p []byte) (int, error) {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	o.run.out[o.n] = append(o.run.out[o.n], p...)
	o.s.more.Broadcast()
	return len(p), nil
}

func (s *modalServer) begin(box *modalBox, in pb) {
	run := &modalRun{cmd: box.command(in.texts(3)...)}
	run.cmd.Stdout, run.cmd.Stderr = modalStream{s, run, 0}, modalStream{s, run, 1}
	read, write, err := os.Pipe()
	if err != nil {
		s.t.Error(err)
		return
	}
	run.cmd.Stdin, run.input = read, write
	box.runs[in.text(2)] = run
	go func() {
		code := box.run(run.cmd)
		_, _ = read.Close(), write.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		run.code = &code
		s.more.Broadcast()
	}()
}

func (s *modalServer) read(c *modalCall, box *modalBox, run *modalRun) {
	sent, n := c.in.number(3), c.in.number(4)
	for {
		for len(run.out[n]) <= sent && run.code == nil && !box.ended {
			s.more.Wait()
		}
		part := bytes.Clone(run.out[n][min(sent, len(run.out[n])):])
		if len(part) == 0 {
			return
		}
		sent += len(part)
		s.mu.Unlock()
		for len(part) > 0 {
			piece := part[:min(len(part), 64<<10)]
			c.send(writePB(1, piece))
			part = part[len(piece):]
		}
		s.mu.Lock()
	}
}
