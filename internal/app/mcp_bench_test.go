package app_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// manyServers makes a home with 20 servers of 30 tools that were seen before.
func manyServers(tb testing.TB, url string) (home string) {
	tb.Helper()
	config := "mcp_servers:\n"
	for i := range 20 {
		config += toolServer(tb, fmt.Sprintf("server-%d", i), fmt.Sprintf("many:29:%d", i), "") // and one more
	}
	home = tb.TempDir()
	writeFile(tb, filepath.Join(home, "config.yaml"), config)
	a := app.New(app.Options{Home: home, BaseURL: url, BaseModel: "m", Getenv: onlyPath})
	s := mustOpen(tb, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: tb.TempDir()}}, From: hermes.From{Attends: true}})
	turn(tb, s, "hello", &pausing{}) // which starts them
	for i := range 20 {
		o, err := a.MCPNamed(fmt.Sprintf("server-%d", i))
		if err != nil {
			tb.Fatal(err)
		}
		if err := o.Ready(tb.Context()); err != nil {
			tb.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		tb.Fatal(err)
	}
	return home
}

func onlyPath(name string) string {
	return map[string]string{"PATH": os.Getenv("PATH")}[name]
}

// BenchmarkFirstPrompt measures how long the first answer takes in a new program, without servers and
// with 20 of 30 tools: for a prompt that is there at once, and for one that is typed meanwhile.
func BenchmarkFirstPrompt(b *testing.B) {
	server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "Hello."}, nil }})
	defer server.Close()
	url := server.URL + "/v1"
	homes := [2]string{b.TempDir(), manyServers(b, url)}
	for _, typing := range []time.Duration{0, 200 * time.Millisecond} {
		b.Run(fmt.Sprintf("typed %v", typing), func(b *testing.B) {
			var answers [2][]time.Duration
			for b.Loop() {
				for i, home := range homes { // in turn, since the machine may do other things
					answers[i] = append(answers[i], firstAnswer(b, home, url, typing))
				}
			}
			var middle [2]float64
			for i, list := range answers {
				slices.Sort(list)
				middle[i] = list[len(list)/2].Seconds() * 1000
			}
			b.ReportMetric(middle[0], "ms-without")
			b.ReportMetric(middle[1], "ms-with")
			b.ReportMetric((answers[1][0]-answers[0][0]).Seconds()*1000, "ms-between-the-best")
		})
	}
}

// firstAnswer runs a program with a session and returns how long the answer to its first prompt takes,
// which is typed for some time; the time to open counts unless it is.
func firstAnswer(tb testing.TB, home, url string, typing time.Duration) time.Duration {
	tb.Helper()
	a := app.New(app.Options{Home: home, BaseURL: url, BaseModel: "m", Getenv: onlyPath})
	began := time.Now()
	s := mustOpen(tb, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: tb.TempDir()}}, From: hermes.From{Attends: true}})
	if typing > 0 {
		time.Sleep(typing)
		began = time.Now()
	}
	turn(tb, s, "hello", &pausing{})
	took := time.Since(began)
	if err := a.Close(); err != nil {
		tb.Fatal(err)
	}
	return took
}
