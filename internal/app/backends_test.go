package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// TestABackendThatIsMisspeltIsNotThisMachine: no session opens, whether the settings or a variable are wrong.
func TestABackendThatIsMisspeltIsNotThisMachine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ config, env, asked, want string }{
		"misspelt":    {config: "terminal: {backend: dokcer}\n", want: "terminal.backend must be one of local, docker"},
		"no text":     {config: "terminal: {backend: [docker]}\n", want: "terminal.backend must be"},
		"a variable":  {env: "dokcer", want: "terminal.backend (variable TERMINAL_ENV) must be one of local, docker"},
		"of the user": {config: "terminal: {backend: dokcer}\n", asked: "local"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: 'http://127.0.0.1:9/v1'}\n"+tt.config)
			a := app.New(app.Options{Home: home, Getenv: func(name string) string { return map[string]string{"TERMINAL_ENV": tt.env}[name] }})
			defer a.Close()
			m, err := a.Sessions(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Open(t.Context(), session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: t.TempDir(), Backend: tt.asked}}})
			if err == nil {
				s.Close()
			}
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestRentedSandboxesGetTheirSettings: the key goes to the service, and an order has what the settings say. A service
// that refuses is an error of the session.
func TestRentedSandboxesGetTheirSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		backend, env, key, header, value string
		more                             map[string]string
		order                            string // the path of an order
		want                             []string
	}{
		{"daytona", "DAYTONA_API_URL", "DAYTONA_API_KEY", "Authorization", "Bearer the-key-1", nil, "/sandbox", []string{`"cpu":2`, `"memory":3`, `FROM python:3`}},
		{"e2b", "E2B_API_URL", "E2B_API_KEY", "X-Api-Key", "the-key-1", nil, "/v2/sandboxes", []string{`"templateID":"mine"`}},
		{"runloop", "RUNLOOP_BASE_URL", "RUNLOOP_API_KEY", "Authorization", "Bearer the-key-1", nil, "/v1/devboxes", []string{`"blueprint_name":"print"`}},
		{"vercel_sandbox", "VERCEL_API_URL", "VERCEL_TOKEN", "Authorization", "Bearer the-key-1", map[string]string{"VERCEL_TEAM_ID": "t1", "VERCEL_PROJECT_ID": "p1"}, "/v2/sandboxes", []string{`"runtime":"node22"`, `"vcpus":2`, `"projectId":"p1"`}},
	} {
		t.Run(tt.backend, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var orders, wrong []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				defer mu.Unlock()
				if got := r.Header.Get(tt.header); got != tt.value {
					wrong = append(wrong, r.URL.Path+" with "+got)
				}
				w.Header().Set("Content-Type", "application/json")
				if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, tt.order) {
					var order map[string]any
					_ = json.NewDecoder(r.Body).Decode(&order)
					text, _ := json.Marshal(order)
					orders = append(orders, string(text))
					w.WriteHeader(http.StatusPaymentRequired)
					_, _ = w.Write([]byte(`{"message":"no credit is left"}`))
					return
				}
				if r.URL.Path == tt.order && tt.backend == "e2b" {
					_, _ = w.Write([]byte(`[]`))
					return
				}
				if r.Method == http.MethodGet && tt.backend == "vercel_sandbox" && strings.Count(r.URL.Path, "/") > 2 {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = w.Write([]byte(`{"items":[],"sandboxes":[],"devboxes":[],"pagination":{}}`))
			}))
			defer server.Close()
			s := newScene(t, hermes.AllowOnce)
			s.config = "terminal: {backend: " + tt.backend + ", container_cpu: 2, container_memory: 3072, daytona_image: 'python:3', vercel_runtime: node22, e2b_template: mine, runloop_blueprint: print}\n"
			s.options = func(o *app.Options) {
				o.Getenv = func(name string) string {
					if v := tt.more[name]; v != "" {
						return v
					}
					return map[string]string{tt.env: server.URL, tt.key: "the-key-1"}[name]
				}
			}
			s.enter()
			if err := s.live.Do(t.Context(), hermes.From{}, saying("hello")); err == nil {
				for e := range s.events {
					if done, ok := e.(hermes.TurnDone); ok {
						err = done.Err()
						break
					}
				}
				if err == nil || !strings.Contains(err.Error(), "no credit is left") {
					t.Errorf("the turn: %v", err)
				}
			} else if !strings.Contains(err.Error(), "no credit is left") || !strings.Contains(err.Error(), tt.backend) {
				t.Errorf("the session: %v", err)
			}
			if name, err := s.app.CheckBackend(t.Context()); name != tt.backend || err != nil {
				t.Errorf("doctor: %s, %v", name, err)
			}
			s.quit()
			mu.Lock()
			defer mu.Unlock()
			if len(orders) == 0 || len(wrong) > 0 {
				t.Fatalf("orders %q, wrong keys %q", orders, wrong)
			}
			if i := slices.IndexFunc(tt.want, func(want string) bool { return !strings.Contains(orders[0], want) }); i >= 0 {
				t.Errorf("the order %s has no %s", orders[0], tt.want[i])
			}
		})
	}
}

func TestTheDoctorKnowsWhatEachBackendLacks(t *testing.T) {
	t.Parallel()
	s := newScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: modal, ssh_host: box}\n"
	s.options = func(o *app.Options) {
		o.Getenv = func(name string) string { return map[string]string{"E2B_API_KEY": "the-key-1"}[name] }
	}
	s.enter()
	lacks, err := s.app.OtherBackends()
	if err != nil {
		t.Fatal(err)
	}
	if _, used := lacks["modal"]; used || len(lacks) != 7 {
		t.Errorf("got %v", lacks)
	}
	if lacks["e2b"] != nil || lacks["ssh"] != nil || lacks["daytona"] == nil || !strings.Contains(lacks["daytona"].Error(), "DAYTONA_API_KEY") {
		t.Errorf("got %v", lacks)
	}
}

// TestABackendWithoutItsClientIsAnError, before anything of the session runs.
func TestABackendWithoutItsClientIsAnError(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"apptainer", "singularity"} {
		if path, err := exec.LookPath(program); err == nil {
			t.Skip(path + " is installed")
		}
	}
	s := newScene(t, hermes.AllowOnce)
	s.config = "terminal: {backend: singularity}\n"
	s.enter()
	err := s.live.Do(t.Context(), hermes.From{}, saying("hello"))
	for err == nil {
		if done, ok := (<-s.events).(hermes.TurnDone); ok {
			if err = done.Err(); err == nil {
				t.Fatal("the turn was done")
			}
		}
	}
	if !strings.Contains(err.Error(), "the session works in singularity, which cannot be used") || !strings.Contains(err.Error(), "apptainer") {
		t.Error(err)
	}
	if name, err := s.app.CheckBackend(t.Context()); name != "singularity" || err == nil || !strings.Contains(err.Error(), "apptainer") {
		t.Errorf("doctor: %s, %v", name, err)
	}
}
