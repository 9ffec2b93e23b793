package vercel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"hermes/internal/environment/rented"
)

func (s *service) Put(ctx context.Context, box rented.Sandbox, files []rented.File) error {
	var body bytes.Buffer
	zipped := gzip.NewWriter(&body)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		head := &tar.Header{Name: strings.TrimPrefix(f.Path, "/"), Mode: 0o600, Size: int64(len(f.Data)), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(f.Data); err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return err
	}
	return s.Do(ctx, rented.Request{
		Method: "POST", Path: box.Address + "/fs/write", Query: s.query(), Body: body.Bytes(), Type: "application/gzip",
		Header: map[string]string{"x-cwd": "/"}, Again: true,
	}, nil)
}

// event is one line of the answer to a command: what is known of it at the beginning and at
// the end, or a part of its output.
type event struct {
	Command *struct {
		ID   string `json:"id"`
		Code *int   `json:"exitCode"`
	} `json:"command"`
	Stream string          `json:"stream"`
	Data   json.RawMessage `json:"data"`
}

func (s *service) Run(ctx context.Context, box rented.Sandbox, line rented.Line) (int, error) {
	resp, err := s.Open(ctx, rented.Request{
		Method: "POST", Path: box.Address + "/cmd", Query: s.query(),
		JSON: map[string]any{"command": "sh", "args": []string{"-c", line.Text}, "sudo": false, "wait": true, "logs": true},
	})
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var id string
	code, err := s.read(resp.Body, line, &id)
	if err != nil && id != "" {
		s.kill(ctx, box, id)
	}
	if err != nil {
		return 0, rented.Cut(err)
	}
	return code, nil
}

func (s *service) read(body io.Reader, line rented.Line, id *string) (int, error) {
	for lines := json.NewDecoder(body); ; {
		var e event
		if err := lines.Decode(&e); err != nil {
			return 0, fmt.Errorf("%s ended its answer before the command: %w", s.Name, err)
		}
		if e.Command != nil {
			if *id = e.Command.ID; e.Command.Code != nil {
				return *e.Command.Code, nil
			}
			continue
		}
		to := line.Stdout
		switch e.Stream {
		case "stderr":
			to = line.Stderr
		case "error":
			return 0, fmt.Errorf("%s: %s", s.Name, e.Data)
		}
		var part string
		if err := json.Unmarshal(e.Data, &part); err != nil {
			return 0, fmt.Errorf("%s: its answer cannot be read: %w", s.Name, err)
		}
		if _, err := io.WriteString(to, part); err != nil {
			return 0, err
		}
	}
}

// kill ends a command whose answer is not read any more. A failure leaves it to the end of
// the sandbox.
func (s *service) kill(ctx context.Context, box rented.Sandbox, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_ = s.Do(ctx, rented.Request{
		Method: "POST", Path: box.Address + "/cmd/" + url.PathEscape(id) + "/kill", Query: s.query(), JSON: map[string]int{"signal": 9},
	}, nil)
}
