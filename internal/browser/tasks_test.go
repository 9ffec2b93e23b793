package browser_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/browser"
)

// TestLogInSearchAndPaginate is a whole task over several pages.
func TestLogInSearchAndPaginate(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	html := func(w http.ResponseWriter, s string, args ...any) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, s, args...)
	}
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("user"); err != nil {
			html(w, `<form method=post action=/login><label>User <input name=user></label><label>Password <input type=password name=pass></label><button>Log in</button></form>`)
			return
		}
		html(w, `<h1>Welcome</h1><form action=/find><input type=search name=q aria-label=Search></form>`)
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("user") != "ann" || r.FormValue("pass") != "pa ss" {
			w.WriteHeader(http.StatusForbidden)
			html(w, "<p role=alert>Wrong password</p>")
			return
		}
		http.SetCookie(w, &http.Cookie{Name: "user", Value: "ann", Path: "/"})
		http.Redirect(w, r, "/", http.StatusSeeOther)
	})
	mux.HandleFunc("GET /find", func(w http.ResponseWriter, r *http.Request) {
		page := r.FormValue("page")
		if page == "" {
			html(w, `<h2>Page 1 of %s</h2><a href="/find?q=%s&page=2">Next</a>`, r.FormValue("q"), r.FormValue("q"))
			return
		}
		html(w, `<h2>Page %s of %s</h2><p>Found: the red hat`, page, r.FormValue("q"))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	p := mustVisit(t, mustStart(t, config(t)), s.URL)
	if _, err := p.Fill(p.ctx, p.ref("User"), "ann"); err != nil {
		t.Fatal(err)
	}
	out, err := p.Fill(p.ctx, p.ref("Password"), "wrong")
	if err != nil || out.Value != "•••••" {
		t.Fatalf("the password: %+v, %v", out, err)
	}
	if out := p.click("Log in"); !out.Navigated || out.Status != http.StatusForbidden {
		t.Errorf("after a wrong password: %+v", out)
	}
	p.wants("Wrong password")
	if _, err := p.Back(p.ctx); err != nil {
		t.Fatal(err)
	}
	for field, text := range map[string]string{"User": "ann", "Password": "pa ss"} {
		if _, err := p.Fill(p.ctx, p.ref(field), text); err != nil {
			t.Fatal(err)
		}
	}
	if out := p.click("Log in"); !out.Navigated || out.Status != http.StatusOK || !strings.HasSuffix(out.URL, "/") {
		t.Errorf("after the login: %+v", out)
	}
	p.wants("Welcome")
	if _, err := p.Fill(p.ctx, p.ref("Search"), "hats"); err != nil {
		t.Fatal(err)
	}
	if out, err := p.Press(p.ctx, "Enter"); err != nil || !out.Navigated {
		t.Fatalf("Enter: %+v, %v", out, err)
	}
	p.wants("Page 1 of hats")
	p.click("Next")
	p.wants("Page 2 of hats", "the red hat")
	if info, err := p.Back(p.ctx); err != nil || !strings.HasSuffix(info.URL, "q=hats") || !info.Loaded {
		t.Errorf("back: %+v, %v", info, err)
	}
	p.wants("Page 1 of hats")
}

// TestFormsAreFilled with fields of all kinds, and the page's scripts see it.
func TestFormsAreFilled(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, `<form onsubmit="return false"><input aria-label=Mail value=old><textarea aria-label=Note></textarea><div contenteditable aria-label=Rich role=textbox>old <b>text</b></div>
		<input type=date aria-label=Day><input type=range aria-label=Volume max=10><input aria-label=Fixed readonly value=x><input aria-label=Off disabled>
		<input aria-label=Short maxlength=3>
		<style>.c{position:absolute;opacity:0;width:1px;height:1px}</style><label><input class=c type=checkbox id=agree> I agree</label>
		<select aria-label=Land><option value=d>Germany<option value=f>France<option disabled>Nowhere</select><select multiple aria-label=Many><option>a<option>b<option>c</select></form>
		<script>log = []; for (const e of ["input", "change", "keydown"]) document.addEventListener(e, v => log.push(e + ":" + (v.target.getAttribute("aria-label") || v.target.id)), true)</script>`)
	fill := func(name, text, want string) {
		t.Helper()
		out, err := p.Fill(p.ctx, p.ref(name), text)
		if err != nil || out.Value != want {
			t.Errorf("fill %s: %q, %v, want %q", name, out.Value, err, want)
		}
	}
	fill("Mail", "a@b.c", "a@b.c")
	fill("Mail", "", "")
	fill("Mail", "a@b.c", "a@b.c")
	fill("Note", "one\ntwo", "one two")
	fill("Rich", "new", "new")
	fill("Day", "2026-05-31", "2026-05-31")
	fill("Volume", "7", "7")
	fill("Short", "abcdef", "abc")
	for name, want := range map[string]string{"Fixed": "read-only", "Off": "disabled"} {
		_, err := p.Fill(p.ctx, p.ref(name), "y")
		wantRefError(t, err, want)
	}
	_, err := p.Fill(p.ctx, p.ref("Day"), "tomorrow")
	wantRefError(t, err, "2026-01-31")
	p.click("I agree")
	p.wants(`checkbox "I agree"`)
	if got := p.js("agree.checked"); got != "true" {
		t.Errorf("the hidden checkbox is checked: %s", got)
	}
	for _, c := range []struct {
		list    string
		options []string
		want    string
	}{{"Land", []string{"france"}, "France"}, {"Land", []string{"d"}, "Germany"}, {"Many", []string{"a", "c"}, "a | c"}} {
		if out, err := p.Select(p.ctx, p.ref(c.list), c.options...); err != nil || out.Value != c.want {
			t.Errorf("select %v: %q, %v", c.options, out.Value, err)
		}
	}
	_, err = p.Select(p.ctx, p.ref("Land"), "Spain")
	wantRefError(t, err, "Germany | France")
	_, err = p.Select(p.ctx, p.ref("Land"), "Nowhere")
	wantRefError(t, err, "disabled")
	log := p.js(`log.join(" ")`)
	for _, want := range []string{"input:Mail", "change:Day", "change:Land", "keydown:Mail", "change:agree"} {
		if !strings.Contains(log, want) {
			t.Errorf("the page did not see %s: %s", want, log)
		}
	}
}

// TestTextThatMayHaveGoneElsewhereIsAnError, for it may be in a field of another host.
func TestTextThatMayHaveGoneElsewhereIsAnError(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, `<input id=a aria-label=Name><input id=b aria-label=Other><script>a.oninput = () => { a.value = ""; b.focus() }</script>`)
	_, err := p.Fill(p.ctx, p.ref("Name"), "xyz")
	wantRefError(t, err, "may have gone elsewhere")
}

// TestReceivers are all who may get what is typed where the focus is.
func TestReceivers(t *testing.T) {
	t.Parallel()
	b := mustStart(t, config(t))
	s := site(t, map[string]string{
		"/": `<input id=plain><div id=host></div><object id=o data="{other}/far" type="text/html"></object><iframe id=f src="{other}/far"></iframe>
			<form id=many><input id=field></form><div id=edit contenteditable></div>
			<script>host.attachShadow({mode: "closed"}).innerHTML = "<input>";
			for (let i = 0; i < 30; i++) many.insertAdjacentHTML("beforeend", "<button formaction=http://x" + i + ".example/>");
			Element.prototype.closest = () => null; document.__defineGetter__("activeElement", () => plain)</script>`,
		"/far": "<input autofocus>"})
	p := mustVisit(t, b, s.URL)
	for id, unknown := range map[string]bool{"plain": false, "o": true, "f": true, "field": true, "edit": false} {
		p.js(id + ".focus(); 0")
		list, err := p.Receivers(p.ctx, "")
		if err != nil || slices.Contains(list, "") != unknown || list[0] != s.URL {
			t.Errorf("%s: %q, %v", id, list, err)
		}
	}
	p.js(`const root = document.body.appendChild(document.createElement("div")).attachShadow({mode: "closed"}); root.innerHTML = "<iframe></iframe>"; root.firstChild.focus(); 0`)
	if list, err := p.Receivers(p.ctx, ""); err != nil || !slices.Contains(list, "") {
		t.Errorf("a closed shadow root: %q, %v", list, err)
	}
}

// TestAClickReachesItsElementOrNone: what is covered, hidden, disabled or gone is an error.
func TestAClickReachesItsElementOrNone(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, `<div style="height:3000px"></div><button id=far onclick="hits.push('far')">Far</button><div style="height:3000px"></div>
		<div style="position:relative;width:200px;height:50px"><button onclick="hits.push('under')">Under</button><div id=veil class="a b" style="position:absolute;inset:0;background:#eee">Cookies?</div></div>
		<div id=list style="height:100px;overflow:auto"><div style="height:900px"></div><button onclick="hits.push('inner')">Inner</button></div>
		<button style="visibility:hidden" id=h>Hidden</button><button disabled>Grey</button><button id=gone>Gone</button>
		<p style="width:60px">A long <a href="#x" onclick="hits.push('link')">link that wraps over many lines</a></p>
		<button id=deaf style="pointer-events:none">Deaf</button><div id=box></div><script>hits = []; box.attachShadow({mode: "closed"}).innerHTML = "<button>Closed</button>"; box.onclick = () => hits.push("closed")</script>`)
	for _, name := range []string{"Far", "Inner", "link that", "Closed"} {
		p.click(name)
	}
	if got := p.js(`hits.join(" ")`); got != `"far inner link closed"` {
		t.Errorf("clicks reached %s", got)
	}
	_, err := p.Click(p.ctx, p.ref("Under"))
	wantRefError(t, err, `covered by <div id=veil class=a b> "Cookies?"`)
	_, err = p.Click(p.ctx, p.ref("Grey"))
	wantRefError(t, err, "disabled")
	_, err = p.Click(p.ctx, p.ref("Deaf"))
	wantRefError(t, err, "not taking clicks")
	gone, far := p.ref("Gone"), p.ref("Far")
	p.js(`gone.remove(); far.style.display = "none"; 0`)
	_, err = p.Click(p.ctx, gone)
	wantRefError(t, err, "new snapshot")
	_, err = p.Click(p.ctx, far)
	wantRefError(t, err, "not visible")
	_, err = p.Click(p.ctx, "@e9999")
	wantRefError(t, err, "never shown")
	_, err = p.Click(p.ctx, "Far")
	wantRefError(t, err, "no ref")
}

// TestARefNeverMeansAnotherElement: a page that looks the same has refs of its own.
func TestARefNeverMeansAnotherElement(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, `<button onclick="document.title='hit'">Pay</button><iframe src="/"></iframe>`)
	old := p.ref("Pay")
	for _, again := range []func() error{
		func() error { _, err := p.Reload(p.ctx); return err },
		func() error { _, err := p.Navigate(p.ctx, p.info().URL+"?x"); return err },
	} {
		if err := again(); err != nil {
			t.Fatal(err)
		}
		fresh := p.ref("Pay")
		if fresh == old {
			t.Errorf("the ref %s of an old page was used again", old)
		}
		_, err := p.Click(p.ctx, old)
		wantRefError(t, err, "new snapshot")
		if got := p.info().Title; got == "hit" {
			t.Error("an old ref clicked")
		}
		old = fresh
	}
	p.click("Pay")
	if got := p.info().Title; got != "hit" {
		t.Errorf("title %q", got)
	}
}

// TestARefDoesNotPassToAnotherProcess, which numbers its nodes from the beginning again.
func TestARefDoesNotPassToAnotherProcess(t *testing.T) {
	t.Parallel()
	s := site(t, map[string]string{"/": "<button>Pay</button>", "/many": strings.Repeat(`<button onclick="document.title='hit'">Pay</button>`, 300)})
	p := mustVisit(t, mustStart(t, config(t)), s.URL)
	old := p.ref("Pay")
	if _, err := p.Navigate(p.ctx, strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+"/many"); err != nil {
		t.Fatal(err)
	}
	p.wants("Pay")
	_, err := p.Click(p.ctx, old)
	wantRefError(t, err, "new snapshot")
	if got := p.info().Title; got == "hit" {
		t.Error("an old ref clicked")
	}
}

func (p tab) info() browser.Info {
	p.t.Helper()
	info, err := p.Info(p.ctx)
	if err != nil {
		p.t.Fatal(err)
	}
	return info
}

// TestFramesAndShadowRoots: buttons in frames of the same and of another process, in shadow
// roots, and in a frame inside a shadow root, are shown and clicked.
func TestFramesAndShadowRoots(t *testing.T) {
	t.Parallel()
	b := mustStart(t, config(t))
	s := site(t, map[string]string{
		"/": `<div style="height:1500px"></div><iframe title=Same src=/same style="border:9px solid;padding:7px;transform:scale(.8)"></iframe><iframe title=Other src="{other}/far"></iframe>
			<div id=open></div><div id=closed></div><div style="height:1500px"></div>
			<script>const fill = (id, mode, html) => document.getElementById(id).attachShadow({mode}).innerHTML = html;
			fill("open", "open", "<button onclick='this.textContent=\"Opened\"'>In open</button>"); fill("closed", "closed", "<iframe src=/inner></iframe><iframe src='{other}/deep'></iframe>")</script>`,
		"/same":  `<div style="height:800px"></div><button onclick="this.textContent='Same clicked'">In same</button><iframe src=/inner2></iframe>`,
		"/far":   `<div style="height:800px"></div><button onclick="this.textContent='Far clicked'">In far</button><input aria-label=Farfield><iframe src="/inner3"></iframe>`,
		"/inner": `<button onclick="this.textContent='Inner clicked'">In inner</button>`, "/inner2": `<button onclick="this.textContent='Two clicked'">In two</button>`,
		"/inner3": `<button onclick="this.textContent='Three clicked'">In three</button>`, "/deep": `<button onclick="this.textContent='Deep clicked'">In deep</button>`,
	})
	p := mustVisit(t, b, s.URL)
	for _, c := range [][2]string{{"In open", "Opened"}, {"In same", "Same clicked"}, {"In two", "Two clicked"}, {"In inner", "Inner clicked"}, {"In far", "Far clicked"}, {"In three", "Three clicked"}, {"In deep", "Deep clicked"}} {
		p.click(c[0])
		p.wants(c[1])
	}
	if out, err := p.Fill(p.ctx, p.ref("Farfield"), "hello"); err != nil || out.Value != "hello" {
		t.Errorf("a field of another process: %q, %v", out.Value, err)
	}
	old := p.ref("Far clicked")
	p.js(`document.querySelector("iframe[title=Other]").src = "/same"; new Promise(r => document.querySelector("iframe[title=Other]").onload = () => r(1))`)
	_, err := p.Click(p.ctx, old)
	wantRefError(t, err, "new snapshot")
}

// TestDialogs: each policy, and a page that waits for an answer says so.
func TestDialogs(t *testing.T) {
	t.Parallel()
	const page = `<button onclick="document.title=confirm('Really?')">Ask</button><button onclick="document.title=prompt('Name?','Bob')">Prompt</button>
		<button onclick="alert(1);alert(2);document.title='done'">Twice</button>`
	t.Run("must respond", func(t *testing.T) {
		t.Parallel()
		p := mustOpen(t, page)
		out := p.click("Ask")
		if out.Dialog == nil || out.Dialog.Kind != "confirm" || out.Dialog.Message != "Really?" || out.Dialog.Answer != "" {
			t.Fatalf("outcome %+v", out)
		}
		var d *browser.DialogError
		if _, err := p.Snapshot(p.ctx, browser.SnapshotOptions{}); !errors.As(err, &d) || d.Dialog.Message != "Really?" {
			t.Errorf("a snapshot meanwhile: %v", err)
		}
		if _, err := p.AnswerDialog(p.ctx, true, ""); err != nil {
			t.Fatal(err)
		}
		if got := p.info().Title; got != "true" {
			t.Errorf("the page heard %q", got)
		}
		p.click("Prompt")
		if _, err := p.AnswerDialog(p.ctx, true, "Eve"); err != nil || p.info().Title != "Eve" {
			t.Errorf("the page heard %q, %v", p.info().Title, err)
		}
		p.click("Twice")
		if out, err := p.AnswerDialog(p.ctx, true, ""); err != nil || out.Dialog == nil || out.Dialog.Message != "2" {
			t.Errorf("the second dialog: %+v, %v", out, err)
		}
		if _, err := p.AnswerDialog(p.ctx, false, ""); err != nil || p.info().Title != "done" {
			t.Errorf("then %v, %v", p.info(), err)
		}
		if _, err := p.Evaluate(p.ctx, "confirm('Script?')"); !errors.As(err, &d) || d.Dialog.Message != "Script?" {
			t.Errorf("a script that asks: %v", err)
		}
		if _, err := p.Click(p.ctx, "@e1"); !errors.As(err, &d) {
			t.Errorf("a click meanwhile: %v", err)
		}
		if _, err := p.AnswerDialog(p.ctx, false, ""); err != nil {
			t.Error(err)
		}
		if _, err := p.AnswerDialog(p.ctx, false, ""); !errors.Is(err, browser.ErrNoDialog) {
			t.Errorf("no dialog: %v", err)
		}
	})
	for policy, want := range map[browser.DialogPolicy]string{browser.AutoAccept: "true", browser.AutoDismiss: "false"} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			c := config(t)
			c.Dialogs = policy
			p := mustOpenIn(t, mustStart(t, c), page)
			out := p.click("Ask")
			if out.Dialog == nil || out.Dialog.Answer == "" || p.info().Title != want {
				t.Errorf("%+v, title %q, want %q", out.Dialog, p.info().Title, want)
			}
		})
	}
	t.Run("of a frame", func(t *testing.T) {
		t.Parallel()
		s := site(t, map[string]string{"/": "<iframe src=/inner></iframe>", "/inner": page})
		p := mustVisit(t, mustStart(t, config(t)), s.URL)
		if out := p.click("Ask"); out.Dialog == nil || out.Dialog.URL != s.URL+"/inner" {
			t.Errorf("outcome %+v", out)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		t.Parallel()
		c := config(t)
		c.DialogTimeout = time.Millisecond
		p := mustOpenIn(t, mustStart(t, c), page)
		if out := p.click("Ask"); out.Dialog == nil {
			t.Errorf("outcome %+v", out)
		}
		for p.Dialog() != nil && p.ctx.Err() == nil {
			<-time.After(time.Millisecond) // nothing tells of it
		}
		if got := p.info().Title; got != "false" {
			t.Errorf("the page heard %q", got)
		}
	})
}

// TestTabs: a popup becomes a tab that can be selected and closed.
func TestTabs(t *testing.T) {
	t.Parallel()
	b := mustStart(t, config(t))
	s := site(t, map[string]string{"/": `<title>First</title><a href=/two target=_blank>New</a><button onclick="window.open('/two')">Pop</button>`, "/two": "<title>Second</title><h1>Two</h1><button onclick='window.close()'>Bye</button>"})
	p := mustVisit(t, b, s.URL)
	p.Give("ann")
	for _, name := range []string{"New", "Pop"} {
		out := p.click(name)
		if len(out.Tabs) != 1 || out.Navigated {
			t.Fatalf("%s: %+v", name, out)
		}
		q, err := b.Select(p.ctx, out.Tabs[0])
		if err != nil {
			t.Fatal(err)
		}
		two := tab{q, t, p.ctx, b}
		if _, err := q.Reload(p.ctx); err != nil { // it may still be at its beginning
			t.Fatal(err)
		}
		two.wants("Two")
		if n := len(b.Tabs()); n != 3 || b.Tabs()[2].Owner != "ann" { // with the empty one of the start
			t.Errorf("%d tabs: %+v", n, b.Tabs())
		}
		if err := q.Close(p.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Snapshot(p.ctx, browser.SnapshotOptions{}); !errors.Is(err, browser.ErrTabClosed) {
			t.Errorf("a closed tab: %v", err)
		}
		if _, err := b.Select(p.ctx, q.ID); !errors.Is(err, browser.ErrNoTab) {
			t.Errorf("a closed tab: %v", err)
		}
	}
	p.wants("New")
}

// TestDownloads: names of pages cannot leave the folder, and bounds hold.
func TestDownloads(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href=/a>One</a> <a href=/a>Two</a> <a href=/evil>Evil</a> <a href=/big>Big</a> <a download=x.txt href="data:text/plain,hi">Data</a>`)
		case "/a":
			w.Header().Set("Content-Disposition", `attachment; filename="report.csv"`)
			fmt.Fprint(w, "1,2")
		case "/evil":
			w.Header().Set("Content-Disposition", `attachment; filename="../../.bashrc"`)
			fmt.Fprint(w, "x")
		case "/big":
			w.Header().Set("Content-Disposition", `attachment; filename="big.bin"`)
			_, _ = io.Copy(w, bytes.NewReader(make([]byte, 1<<20)))
		}
	}))
	t.Cleanup(s.Close)
	c := config(t)
	c.Downloads = browser.Downloads{Folder: t.TempDir(), MaxBytes: 1000, MaxFiles: 4}
	b := mustStart(t, c)
	p := mustVisit(t, b, s.URL)
	var all []browser.Download
	for i, name := range []string{"One", "Two", "Evil", "Big", "Data"} {
		p.click(name)
		if err := b.AwaitDownload(p.ctx, i); err != nil {
			t.Fatal(err)
		}
		var err error
		if all, err = b.AwaitDownloads(p.ctx); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, d := range all {
		s := filepath.Base(d.Path)
		if d.Err != nil {
			s = d.Err.Error()
		} else if raw, err := os.ReadFile(d.Path); err != nil || int64(len(raw)) != d.Bytes || filepath.Dir(d.Path) != c.Downloads.Folder {
			t.Errorf("%s: %v", d.Path, err)
		}
		got = append(got, s)
	}
	want := "report.csv, report-2.csv, _.._.bashrc, the file is larger than 1000 bytes, 4 files were downloaded already"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(c.Downloads.Folder); err != nil || len(entries) != 3 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}

// TestUploadAndDrag gives files to a field, and to one that a button opens, and drags in both
// ways that pages know.
func TestUploadAndDrag(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, `<input type=file id=f aria-label=File onchange="document.title=this.files[0].name"><input type=file id=g hidden multiple onchange="document.title=this.files.length"><button onclick="g.click()">Choose</button><button>Nothing</button>
		<div id=src draggable=true tabindex=0 aria-label=Card role=button style="width:80px;height:30px;background:#ccc">Card</div>
		<div id=dst tabindex=0 role=button style="width:200px;height:80px;background:#eee">Target</div>
		<div id=knob role=slider tabindex=0 aria-label=Knob style="position:absolute;left:10px;top:400px;width:20px;height:20px;background:red"></div><div role=button tabindex=0 style="position:absolute;left:400px;top:390px;width:40px;height:40px">End</div>
		<script>src.ondragstart = e => e.dataTransfer.setData("text/plain", "card"); dst.ondragover = e => e.preventDefault(); dst.ondrop = e => { e.preventDefault(); dst.textContent = "Got " + e.dataTransfer.getData("text/plain") };
		let on = false; knob.onmousedown = e => { on = true; e.preventDefault() }; document.onmousemove = e => { if (on) knob.style.left = e.clientX - 10 + "px" }; document.onmouseup = () => on = false</script>`)
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.txt"), filepath.Join(dir, "two.txt")
	for _, path := range []string{one, two} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Upload(p.ctx, p.ref("File"), one); err != nil || p.info().Title != "one.txt" {
		t.Errorf("upload: %v, title %q", err, p.info().Title)
	}
	_, err := p.Upload(p.ctx, p.ref("File"), one, two)
	wantRefError(t, err, "one file")
	if _, err := p.Upload(p.ctx, p.ref("Choose"), one, two); err != nil || p.info().Title != "2" {
		t.Errorf("upload by a button: %v, title %q", err, p.info().Title)
	}
	if _, err := p.Upload(p.ctx, p.ref("File"), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("upload of nothing: %v", err)
	}
	if _, err := p.Drag(p.ctx, p.ref("Card"), p.ref("Target")); err != nil {
		t.Fatal(err)
	}
	p.wants("Got card")
	if _, err := p.Drag(p.ctx, p.ref("Knob"), p.ref("End")); err != nil {
		t.Fatal(err)
	}
	p.js(`document.body.insertAdjacentHTML("beforeend", "<div style='position:absolute;top:5000px'><button>Low</button></div>"); 0`)
	_, err = p.Drag(p.ctx, p.ref("Card"), p.ref("Low"))
	wantRefError(t, err, "together")
	if got := p.js("parseInt(knob.style.left)"); got != "410" {
		t.Errorf("the knob is at %s", got)
	}
}

// TestConsoleScriptsScrollAndPictures are the smaller tools.
func TestConsoleScriptsScrollAndPictures(t *testing.T) {
	t.Parallel()
	p := mustOpen(t, `<title>T</title><div style="height:5000px;background:linear-gradient(red,blue)">Top</div><div id=l tabindex=0 aria-label=List role=listbox style="height:100px;overflow:auto"><div style="height:1000px">x</div></div>
		<img alt=Hat src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="><script>console.log("hello", 7, {a: 1}); console.error("bad"); setTimeout(() => { throw new Error("thrown") })</script>`)
	p.js("new Promise(r => setTimeout(r))")
	messages, _ := p.Console(true)
	var got []string
	for _, m := range messages {
		got = append(got, m.Level+": "+m.Text)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{"log: hello 7 Object", "error: bad", "exception: Error: thrown"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in %s", want, all)
		}
	}
	p.js(`for (let i = 0; i < 5000; i++) console.log(i); 0`)
	if messages, dropped := p.Console(false); len(messages) != 200 || dropped != 4800 || messages[199].Text != "4999" {
		t.Errorf("%d messages, %d dropped", len(messages), dropped)
	}
	if got := p.js(`const a = await Promise.resolve({x: [1, "y"]}); a`); got != `{"x":[1,"y"]}` {
		t.Errorf("a script returned %s", got)
	}
	var failed *browser.ScriptError
	if _, err := p.Evaluate(p.ctx, "nothing.x"); !errors.As(err, &failed) || !strings.Contains(err.Error(), "nothing is not defined") {
		t.Errorf("a wrong script: %v", err)
	}
	for _, c := range []struct {
		ref, way string
		moves    bool
	}{{"", "up", false}, {"", "down", true}, {"", "up", true}, {p.ref("List"), "down", true}} {
		if s, err := p.Scroll(p.ctx, c.ref, c.way); err != nil || (s.Moved > 0) != c.moves || s.Height <= 0 {
			t.Errorf("scroll %+v: %+v, %v", c, s, err)
		}
	}
	if list, err := p.Images(p.ctx); err != nil || len(list) != 1 || list[0].Text != "Hat" || list[0].Width != 1 {
		t.Errorf("images %+v, %v", list, err)
	}
	for whole, height := range map[bool]int{false: 800, true: 5000} {
		raw, err := p.Screenshot(p.ctx, whole)
		if err != nil {
			t.Fatal(err)
		}
		m, err := png.DecodeConfig(bytes.NewReader(raw))
		if err != nil || m.Width != 1280 || m.Height < height || m.Height > height+400 {
			t.Errorf("a picture of %dx%d, %v", m.Width, m.Height, err)
		}
	}
	if raw, err := p.PDF(p.ctx); err != nil || !bytes.HasPrefix(raw, []byte("%PDF-")) {
		t.Errorf("a PDF of %d bytes, %v", len(raw), err)
	}
}

// TestSlowPagesAndErrorsOfPages: a page that never ends is shown as far as it is, one that never
// begins is an error, and the tab works on.
func TestSlowPagesAndErrorsOfPages(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/half":
			fmt.Fprint(w, "<h1>Half</h1>"+strings.Repeat(" ", 5000))
			w.(http.Flusher).Flush()
			<-stop
		case "/never":
			<-stop
		case "/none":
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<h1>Not here</h1>")
		default:
			fmt.Fprint(w, "<h1>Fine</h1>")
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(stop) })
	p := mustVisit(t, mustStart(t, config(t)), s.URL)
	usual := p.b.SetLoadTimeout(4 * time.Second) // long enough for the half
	if info, err := p.Navigate(p.ctx, s.URL+"/half"); err != nil || info.Loaded {
		t.Errorf("half a page: %+v, %v", info, err)
	}
	p.wants("Half")
	p.b.SetLoadTimeout(500 * time.Millisecond)
	if _, err := p.Navigate(p.ctx, s.URL+"/never"); err == nil || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("no page: %v", err)
	}
	p.b.SetLoadTimeout(usual)
	if info, err := p.Navigate(p.ctx, s.URL+"/none"); err != nil || info.Status != 404 || !info.Loaded {
		t.Errorf("a missing page: %+v, %v", info, err)
	}
	p.wants("Not here")
	if _, err := p.Navigate(p.ctx, "http://127.0.0.1:1/"); err == nil || !strings.Contains(err.Error(), "cannot be loaded") {
		t.Errorf("no server: %v", err)
	}
	if info, err := p.Navigate(p.ctx, s.URL+"#here"); err != nil || !info.Loaded {
		t.Errorf("then %+v, %v", info, err)
	}
	p.wants("Fine")
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	if _, err := p.Snapshot(ctx, browser.SnapshotOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted call: %v", err)
	}
}

// TestCrashes: the next call says so, and a tab can be loaded again.
func TestCrashes(t *testing.T) {
	t.Parallel()
	b := mustStart(t, config(t))
	p := mustOpenIn(t, b, "<h1>Alive</h1><button>Go</button>")
	ref := p.ref("Go")
	if _, err := p.Raw(p.ctx, "", "Page.crash", nil); !errors.Is(err, browser.ErrCrashed) {
		t.Errorf("the call that crashed it: %v", err)
	}
	if _, err := p.Snapshot(p.ctx, browser.SnapshotOptions{}); !errors.Is(err, browser.ErrCrashed) {
		t.Errorf("the call after a crash: %v", err)
	}
	if _, err := p.Reload(p.ctx); err != nil {
		t.Fatalf("reload: %v", err)
	}
	p.wants("Alive")
	_, err := p.Click(p.ctx, ref)
	wantRefError(t, err, "new snapshot")
	waiting := make(chan error, 1)
	go func() {
		_, err := p.Evaluate(p.ctx, "new Promise(() => 0)")
		waiting <- err
	}()
	b.Crash(p.ctx)
	if err := <-waiting; !errors.Is(err, browser.ErrGone) {
		t.Errorf("a call during the end of the browser: %v", err)
	}
	if _, err := p.Snapshot(p.ctx, browser.SnapshotOptions{}); !errors.Is(err, browser.ErrGone) {
		t.Errorf("a call after the end of the browser: %v", err)
	}
	if b.Err() == nil {
		t.Error("the browser says nothing of its end")
	}
}

// TestACrashOfAFrameLeavesTheRest of the page, and a reload brings it back.
func TestACrashOfAFrameLeavesTheRest(t *testing.T) {
	t.Parallel()
	s := site(t, map[string]string{"/": "<h1>Page</h1><iframe src='{other}/far'></iframe><button>Go</button>", "/far": "<button>Far</button>"})
	p := mustVisit(t, mustStart(t, config(t)), s.URL)
	far := p.ref("Far")
	if err := p.CrashFrame(p.ctx, "/far"); err == nil || !strings.Contains(err.Error(), "frame has crashed") {
		t.Errorf("the call that crashed it: %v", err)
	}
	p.wants("Page", "this frame has crashed", "Go")
	_, err := p.Click(p.ctx, far)
	wantRefError(t, err, "new snapshot")
	p.click("Go")
	if _, err := p.Reload(p.ctx); err != nil {
		t.Fatal(err)
	}
	p.click("Far")
}

func mustDecode(t *testing.T, raw []byte) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
