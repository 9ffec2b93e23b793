package e2b

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hermes/internal/environment/rented"
)

// A stream of the Connect protocol is frames: a byte of flags, the length in four bytes, and
// JSON. The last one has lastFrame set and holds the error, if any.
const (
	lastFrame = 2
	mostFrame = 64 << 20
)

func frame(data []byte) []byte {
	head := make([]byte, 5, 5+len(data))
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	return append(head, data...)
}

func readFrame(r io.Reader) (flags byte, data []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > mostFrame {
		return 0, nil, fmt.Errorf("a part of the answer has %d bytes", n)
	}
	data = make([]byte, n)
	_, err = io.ReadFull(r, data)
	return head[0], data, err
}

// message is one frame of the answer to a command.
type message struct {
	Event struct {
		Start *struct {
			PID int `json:"pid"`
		} `json:"start"`
		Data *struct {
			Stdout []byte `json:"stdout"`
			Stderr []byte `json:"stderr"`
		} `json:"data"`
		End *end `json:"end"`
	} `json:"event"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type end struct {
	Code   int    `json:"exitCode"`
	Exited bool   `json:"exited"`
	Status string `json:"status"`
}

func (s *service) Run(ctx context.Context, box rented.Sandbox, line rented.Line) (int, error) {
	order, err := json.Marshal(map[string]any{
		"process": map[string]any{"cmd": "/bin/sh", "args": []string{"-c", line.Text}}, "stdin": false,
	})
	if err != nil {
		return 0, err
	}
	r := request(box, "/process.Process/Start", frame(order), "application/connect+json")
	r.Header["Connect-Protocol-Version"] = "1"
	r.Header["Keepalive-Ping-Interval"] = "50"
	resp, err := s.inside.Open(ctx, r)
	if err != nil {
		return 0, stopped(err)
	}
	defer resp.Body.Close()
	pid := 0
	code, err := read(resp.Body, line, &pid)
	if err != nil && pid != 0 {
		s.kill(ctx, box, pid)
	}
	return code, err
}

func read(body io.Reader, line rented.Line, pid *int) (int, error) {
	for {
		flags, data, err := readFrame(body)
		if err != nil {
			return 0, rented.Cut(fmt.Errorf("E2B ended its answer before the command: %w", err))
		}
		var m message
		if err := json.Unmarshal(data, &m); err != nil {
			return 0, rented.Cut(fmt.Errorf("E2B: its answer cannot be read: %w", err))
		}
		switch e := m.Event; {
		case flags&lastFrame != 0:
			why := "its end was not told"
			if m.Error != nil {
				why = m.Error.Code + ": " + m.Error.Message
			}
			if *pid == 0 && m.Error != nil && m.Error.Code != "unavailable" {
				return 0, rented.NewFailure(http.StatusUnprocessableEntity, "E2B did not start the command: "+why)
			}
			return 0, rented.Cut(fmt.Errorf("E2B: %s", why))
		case e.Start != nil:
			*pid = e.Start.PID
		case e.Data != nil:
			if _, err := line.Stdout.Write(e.Data.Stdout); err != nil {
				return 0, rented.Cut(err)
			}
			if _, err := line.Stderr.Write(e.Data.Stderr); err != nil {
				return 0, rented.Cut(err)
			}
		case e.End != nil:
			return e.End.code()
		}
	}
}

// code returns the exit code. One that was killed from outside has none.
func (e *end) code() (int, error) {
	if !e.Exited && strings.HasPrefix(e.Status, "signal") {
		return 0, rented.Cut(fmt.Errorf("E2B ended the command: %s", e.Status))
	}
	return e.Code, nil
}

// kill ends a command whose answer is not read any more. A failure leaves it to the end of
// the sandbox.
func (s *service) kill(ctx context.Context, box rented.Sandbox, pid int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	order, err := json.Marshal(map[string]any{"process": map[string]int{"pid": pid}, "signal": "SIGNAL_SIGKILL"})
	if err == nil {
		_ = s.inside.Do(ctx, request(box, "/process.Process/SendSignal", order, "application/json"), nil)
	}
}
