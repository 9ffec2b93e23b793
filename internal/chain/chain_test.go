package chain

import (
	"encoding/json"
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		try  int
		r    float64
		want time.Duration
	}{
		{0, 0, 5 * time.Second}, {1, 0, 10 * time.Second}, {4, 0, 80 * time.Second}, {5, 0, 120 * time.Second}, {60, 0, 120 * time.Second},
		{0, 1, 7500 * time.Millisecond}, {9, 1, 180 * time.Second},
	}
	for _, tt := range tests {
		if got := backoff(5*time.Second, tt.try, tt.r); got != tt.want {
			t.Errorf("try %d with %v: %v, want %v", tt.try, tt.r, got, tt.want)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	tests := []struct{ body, want string }{
		{`{"a":1,"b":{"x":[1,2]},"c":"<&>"}`, `{"a":1,"c":"<&>"}`},
		{`{"b":1,"a":2}`, `{"a":2}`},
		{`{"a":2,"B":1}`, `{"a":2}`},
		{`{"b":1}`, `{}`},
		{`{"a":{"b":1}}`, `{"a":{"b":1}}`},     // top level only
		{`{ "a" : 1 , "b" : 2 }`, `{"a" : 1}`}, // blanks may go
		{`[1]`, `[1]`},
		{`{"a":`, `{"a":`},
		{``, ``},
	}
	for _, tt := range tests {
		if got := string(without([]byte(tt.body), []string{"b"})); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.body, got, tt.want)
		}
	}
}

func FuzzWithout(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":{"x":[1,2]},"c":"<&>"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := without(body, []string{"b"})
		if json.Valid(body) && !json.Valid(got) {
			t.Errorf("%q became %q", body, got)
		}
	})
}
