package httpc_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"hermes/internal/httpc"
)

// paced is a body that gives one byte after each wait, as a connection would
// under ctx.
type paced struct {
	ctx   context.Context
	waits []time.Duration
}

func (p *paced) Read(b []byte) (int, error) {
	if len(p.waits) == 0 {
		return 0, io.EOF
	}
	if err := sleep(p.ctx, p.waits[0]); err != nil {
		return 0, err
	}
	p.waits = p.waits[1:]
	b[0] = '.'
	return 1, nil
}

func (p *paced) Close() error { return nil }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestClocks(t *testing.T) {
	t.Parallel()
	s := time.Second
	clocks := httpc.Clocks{FirstByte: 10 * s, Idle: 5 * s, Stale: 20 * s, Whole: 60 * s}
	many := func(n int, d time.Duration) (list []time.Duration) {
		for range n {
			list = append(list, d)
		}
		return list
	}
	tests := []struct {
		name    string
		headers time.Duration
		waits   []time.Duration
		alive   bool
		want    string
		at      time.Duration
	}{
		{"in time", 9 * s, []time.Duration{s / 2, 4 * s, 4 * s}, true, "", 0},
		{"no headers", 11 * s, nil, true, "first byte", 10 * s},
		{"headers but no byte", 9 * s, []time.Duration{2 * s}, true, "first byte", 10 * s},
		{"idle", s, []time.Duration{s, 6 * s}, true, "idle", 7 * s},
		{"keepalives only", s, many(30, s), false, "stale", 22 * s},
		{"too long", s, many(100, s), true, "whole", 60 * s},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				client, _ := httpc.New(httpc.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					if err := sleep(r.Context(), tt.headers); err != nil {
						return nil, err
					}
					return &http.Response{StatusCode: 200, Body: &paced{r.Context(), tt.waits}}, nil
				})})
				err := drain(t.Context(), client, clocks, tt.alive)
				var timeout *httpc.TimeoutError
				if errors.As(err, &timeout) != (tt.want != "") {
					t.Fatalf("error %v, want %q", err, tt.want)
				}
				if tt.want != "" && (timeout.Phase != tt.want || time.Since(start) != tt.at) {
					t.Errorf("%v after %v, want %s after %v", err, time.Since(start), tt.want, tt.at)
				}
			})
		})
	}
}

func drain(ctx context.Context, client *http.Client, clocks httpc.Clocks, alive bool) error {
	req, _ := http.NewRequestWithContext(ctx, "GET", "http://x/", nil)
	x, err := httpc.Do(client, req, clocks)
	if err != nil {
		return err
	}
	defer x.Close()
	buf := make([]byte, 1)
	for {
		if _, err := x.Response.Body.Read(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if alive {
			x.Alive()
		}
	}
}

func TestCancelIsNoTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client, _ := httpc.New(httpc.Options{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return nil, sleep(r.Context(), time.Minute)
		})})
		err := drain(ctx, client, httpc.Clocks{FirstByte: time.Minute}, true)
		if errors.Is(err, httpc.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want the caller's deadline", err)
		}
	})
}
