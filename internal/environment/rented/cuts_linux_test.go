package rented_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hermes/internal/environment/remote"
	"hermes/internal/environment/rented"
)

// cutter ends connections that bring output before they have brought any.
type cutter struct {
	http.RoundTripper
	cuts  atomic.Int32
	most  int32         // how many are cut
	after time.Duration // how long each lives
	down  bool          // none is made, which takes as long
	now   atomic.Int64
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	path := r.URL.Path
	output := strings.HasSuffix(path, "/logs") || strings.Contains(path, "/stream_") || strings.HasSuffix(path, "/TaskExecStdioRead")
	if !output || c.cuts.Add(1) > c.most {
		return c.RoundTripper.RoundTrip(r)
	}
	if c.down {
		c.now.Add(int64(c.after))
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ETIMEDOUT}
	}
	resp, err := c.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = silent{resp.Body, c}
	}
	return resp, err
}

// silent is the answer of a connection that is cut. Its writer is that of a WebSocket.
type silent struct {
	io.ReadCloser
	c *cutter
}

func (s silent) Read([]byte) (int, error) {
	s.c.now.Add(int64(s.c.after))
	return 0, io.ErrUnexpectedEOF
}

func (s silent) Write(p []byte) (int, error) { return s.ReadCloser.(io.Writer).Write(p) }

// TestOutputIsReadOnAfterCuts without any of it: a few that come at once, and any number of those
// that come late, as services end connections of silent commands. The command has the exit code that
// the service says.
func TestOutputIsReadOnAfterCuts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s server, i int) {
		if name := services[i].name; name == "vercel" || name == "e2b" {
			t.Skip("they cannot be asked for output again")
		}
		for _, tt := range []struct {
			name    string
			says    string
			most    int32
			after   time.Duration
			down    bool
			givesUp bool
		}{
			{"three at once", "echo out; echo err >&2; ", 3, 0, false, false},
			{"three at once of a command without output", "", 3, 0, false, false},
			{"many after a minute", "echo out; echo err >&2; ", 30, time.Minute, false, false},
			{"each at once", "echo out; echo err >&2; ", 1 << 30, 0, false, true},
			{"none can be made", "echo out; echo err >&2; ", 1 << 30, time.Minute, true, true},
		} {
			t.Run(tt.name, func(t *testing.T) {
				cut := &cutter{RoundTripper: http.DefaultTransport.(*http.Transport).Clone(), after: tt.after, down: tt.down}
				c := config(t)
				c.HTTP = &http.Client{Transport: cut}
				c.Now = func() time.Time { return time.Unix(0, cut.now.Load()) }
				r := mustOpen(t, s, c)
				defer r.Close()
				output(t, r, "true", "")
				cut.cuts.Store(0)
				cut.most = tt.most
				var out, errs bytes.Buffer
				code, err := r.Exec(t.Context(), remote.Script{Text: tt.says + "exit 3", Stdout: &out, Stderr: &errs})
				if tt.givesUp {
					if n := cut.cuts.Load(); !errors.Is(err, rented.ErrCut) || n > 32 { // four for each stream, each tried four times if there is no connection
						t.Errorf("error %v after %d cuts, want ErrCut after 32 at most", err, n)
					}
					return
				}
				wantOut, wantErrs := "", ""
				if tt.says != "" {
					wantOut, wantErrs = "out\n", "err\n"
				}
				if err != nil || code != 3 || out.String() != wantOut || errs.String() != wantErrs {
					t.Errorf("exit code %d, error %v, got %q and %q", code, err, out.String(), errs.String())
				}
			})
		}
	})
}
