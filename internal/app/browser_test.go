package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/browser"
	"hermes/internal/chatserver"
)

func needBrowser(t testing.TB) {
	t.Helper()
	if _, err := browser.Find(""); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// step is one call of the scripted model. In its arguments, {REF role "name"} is the ref of an element in the
// newest outline, {URL} the site, and {TAB} the tab that was opened.
type step struct{ tool, arguments string }

// surfer is a model that makes the calls of its script, one after the other.
type surfer struct {
	url string

	mu      sync.Mutex
	steps   []step
	next    int      // call
	child   []step   // of a child session
	outline string   // the newest
	results []string // of the calls
}

var newTab = regexp.MustCompile(`"new_tabs":\["([^"]+)"`)

var wantsRef = regexp.MustCompile(`\{REF ([^}]*)\}`)

func (s *surfer) decide(r *chatserver.Request) (chatserver.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := r.Messages[len(r.Messages)-1]
	if last.Role == "tool" {
		s.results = append(s.results, last.Text())
		var shown struct{ Snapshot string }
		if json.Unmarshal([]byte(last.Text()), &shown) == nil && shown.Snapshot != "" {
			s.outline = shown.Snapshot
		}
	}
	steps := &s.steps
	for _, m := range r.Messages {
		if m.Role == "user" && strings.Contains(m.Text(), "CHILD") {
			steps = &s.child
		}
	}
	if len(*steps) == 0 {
		return chatserver.Answer{Text: "Done."}, nil
	}
	one := (*steps)[0]
	*steps = (*steps)[1:]
	s.next++
	arguments := strings.ReplaceAll(wantsRef.ReplaceAllStringFunc(one.arguments, func(m string) string {
		what := strings.ReplaceAll(wantsRef.FindStringSubmatch(m)[1], `\`, "")
		for line := range strings.Lines(s.outline) {
			if strings.Contains(line, what) {
				for word := range strings.FieldsSeq(line) {
					if strings.HasPrefix(word, "@e") {
						return word
					}
				}
			}
		}
		return "no " + what
	}), "{URL}", s.url)
	if tab := newTab.FindStringSubmatch(strings.Join(s.results, "\n")); tab != nil {
		arguments = strings.ReplaceAll(arguments, "{TAB}", tab[1])
	}
	return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprintf("c%d", s.next), Type: "function", Function: chatserver.Function{Name: one.tool, Arguments: arguments}}}}, nil
}

// last is the newest result.
func (s *surfer) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.results) == 0 {
		return ""
	}
	return s.results[len(s.results)-1]
}

// web is a session whose model is scripted, and a site of this machine.
type web struct {
	*scene
	surfer *surfer
	site   *httptest.Server
}

func newWeb(t *testing.T, pages http.Handler) *web {
	needBrowser(t)
	site := httptest.NewServer(pages)
	t.Cleanup(site.Close)
	w := &web{scene: newScene(t, hermes.Deny), surfer: &surfer{url: site.URL}, site: site}
	model := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: w.surfer.decide})
	t.Cleanup(model.Close)
	w.url = model.URL + "/v1"
	w.config = "security: {allow_private_urls: true}\n"
	w.options = func(o *app.Options) { o.Sandbox.Keeper = true }
	return w
}

// play has the model make calls after a message of the user.
func (w *web) play(said string, steps ...step) {
	w.t.Helper()
	w.surfer.mu.Lock()
	w.surfer.steps = steps
	w.surfer.mu.Unlock()
	w.say(strings.ReplaceAll(said, "{URL}", w.site.URL))
}

func (w *web) wants(part string) {
	w.t.Helper()
	if !strings.Contains(w.surfer.last(), part) {
		w.surfer.mu.Lock()
		defer w.surfer.mu.Unlock()
		w.t.Fatalf("the last result has no %q:\n%s", part, strings.Join(w.surfer.results, "\n"))
	}
}

// page serves one page.
func page(html string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, html)
	})
}

// TestAModelWorksAPage: it opens a page, reads it, types and clicks.
func TestAModelWorksAPage(t *testing.T) {
	t.Parallel()
	w := newWeb(t, page(`<title>Hats</title><label>Name <input id=n></label><button onclick="document.title='Hello '+n.value">Greet</button>`))
	w.play("Greet Ann on {URL}",
		step{"browser_navigate", `{"url":"{URL}/"}`},
		step{"browser_type", `{"ref":"{REF textbox \"Name\"}","text":"Ann"}`},
		step{"browser_click", `{"ref":"{REF button \"Greet\"}"}`},
		step{"browser_snapshot", `{}`},
	)
	w.wants(`"title":"Hello Ann"`)
}

// shop is a site with what browsers have to do.
func shop() http.Handler {
	mux := http.NewServeMux()
	show := func(path, html string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, html)
		})
	}
	show("GET /login", `<form method=post><label>User <input name=user></label><label>Password <input type=password name=password></label><button>Log in</button></form>`)
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("user") != "ann" || r.FormValue("password") != "pa ss" {
			http.Error(w, "Wrong password", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "in", Value: "yes", Path: "/", HttpOnly: true, MaxAge: 3600})
		http.Redirect(w, r, "/home", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /home", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("in"); err != nil {
			http.Error(w, "log in first", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, "<!doctype html><h1>Welcome ann</h1>")
	})
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		q, n := r.FormValue("q"), r.FormValue("page")
		if q == "" {
			fmt.Fprint(w, `<!doctype html><form><input aria-label=Search name=q></form>`)
			return
		}
		if n == "2" {
			fmt.Fprint(w, "<!doctype html><p>the red hat")
			return
		}
		fmt.Fprintf(w, `<!doctype html><h1>Page 1 of %s</h1><a href="/search?q=%[1]s&page=2">Next</a>`, q)
	})
	show("GET /form", `<label>Mail <input></label><label><input type=checkbox>Agree</label><select aria-label=Size><option>S<option>M</select>
		<button onclick="document.body.innerHTML='<p>'+[...document.querySelectorAll('input,select')].map(e=>e.type=='checkbox'?e.checked:e.value).join('|')">Send</button>`)
	show("GET /download", `<a href="/file.csv" download>Get it</a>`)
	mux.HandleFunc("GET /file.csv", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="file.csv"`)
		fmt.Fprint(w, "a,b\n1,2\n")
	})
	show("GET /drag", `<style>button{width:80px;height:40px}#to{margin-top:60px}</style><button id=from draggable=true ondragstart="event.dataTransfer.setData('text/plain','box')">Box</button><br>
		<button id=to ondragover="event.preventDefault()" ondrop="event.preventDefault();document.title='got '+event.dataTransfer.getData('text/plain')">Target</button>`)
	show("GET /upload", `<input type=file aria-label=File onchange="this.files[0].text().then(t=>document.title='has '+t)">`)
	show("GET /dialog", `<button onclick="document.title='said '+prompt('Your name?')">Ask</button>`)
	show("GET /tab", `<button onclick="window.open('/form')">Open</button>`)
	show("GET /shadow", `<div id=h></div><script>h.attachShadow({mode:'closed'}).innerHTML='<iframe srcdoc="<button onclick=&quot;this.textContent=\'Found\'&quot;>Deep</button>"></iframe>'</script>`)
	return mux
}

// TestTasksInABrowser are those that people give a browser, each from the first page to its end.
func TestTasksInABrowser(t *testing.T) {
	t.Parallel()
	open := func(path string) step { return step{"browser_navigate", `{"url":"{URL}` + path + `"}`} }
	look := step{"browser_snapshot", `{}`}
	click := func(what string) step { return step{"browser_click", `{"ref":"{REF ` + what + `}"}`} }
	fill := func(what, text string) step {
		return step{"browser_type", `{"ref":"{REF ` + what + `}","text":"` + text + `"}`}
	}
	for name, task := range map[string]struct {
		steps []step
		want  string
	}{
		"log in":   {[]step{open("/login"), fill("User", "ann"), fill("Password", "pa ss"), click("Log in"), look}, "Welcome ann"},
		"search":   {[]step{open("/search"), fill("Search", "hats"), {"browser_press", `{"key":"Enter"}`}, look}, "Page 1 of hats"},
		"paginate": {[]step{open("/search?q=hats"), click("Next"), look, {"browser_back", `{}`}, click("Next"), look}, "the red hat"},
		"fill a form": {[]step{open("/form"), fill("Mail", "a@b.c"), click("checkbox"),
			{"browser_act", `{"action":"select","ref":"{REF Size}","text":"M"}`}, click("Send"), look}, "a@b.c|true|M"},
		"download":                     {[]step{open("/download"), click("Get it"), {"browser_files", `{"action":"downloads"}`}}, "file.csv\",\"bytes\":8"},
		"drag":                         {[]step{open("/drag"), {"browser_act", `{"action":"drag","ref":"{REF Box}","to":"{REF Target}"}`}, look}, "got box"},
		"upload":                       {[]step{open("/upload"), {"browser_files", `{"action":"upload","ref":"{REF File}","path":"cargo.txt"}`}, look}, "has cargo"},
		"a dialog":                     {[]step{open("/dialog"), click("Ask"), {"browser_dialog", `{"action":"accept","prompt_text":"Ann"}`}, look}, "said Ann"},
		"a new tab":                    {[]step{open("/tab"), click("Open"), {"browser_tabs", `{"action":"select","id":"{TAB}"}`}, look}, "Mail"},
		"a frame inside a shadow root": {[]step{open("/shadow"), click("Deep"), look}, "Found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWeb(t, shop())
			w.answer = hermes.AllowOnce
			w.write("cargo.txt", "cargo")
			w.play("Do it on {URL}", task.steps...)
			w.wants(task.want)
		})
	}
}
