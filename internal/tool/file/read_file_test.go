package file_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/tool/file"
)

func TestReadShowsLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		args       args
		want       args
	}{
		{"numbered lines", "a\nb\n", args{}, args{"content": "1|a\n2|b\n", "total_lines": 2.0, "truncated": false}},
		{"without a final line break", "a\nb", args{}, args{"content": "1|a\n2|b\n", "total_lines": 2.0, "truncated": false}},
		{"a page in the middle", "a\nb\nc\nd\n", args{"offset": 2, "limit": 2},
			args{"content": "2|b\n3|c\n", "total_lines": 4.0, "truncated": true, "next_offset": 4.0, "note": "more lines follow: continue at offset 4"}},
		{"the last page is not truncated", "a\nb\nc\n", args{"offset": 2, "limit": 2}, args{"content": "2|b\n3|c\n", "total_lines": 3.0, "truncated": false}},
		{"offset and limit below one count as one", "a\nb\n", args{"offset": -5, "limit": 0},
			args{"content": "1|a\n", "total_lines": 2.0, "truncated": true, "next_offset": 2.0, "note": "more lines follow: continue at offset 2"}},
		{"junk becomes the default", "a\n", args{"offset": "x", "limit": []int{1}}, args{"content": "1|a\n", "total_lines": 1.0, "truncated": false}},
		{"numbers in texts", "a\nb\n", args{"offset": "2"}, args{"content": "2|b\n", "total_lines": 2.0, "truncated": false}},
		{"past the end", "a\n", args{"offset": 9}, args{"content": "", "total_lines": 1.0, "truncated": false, "note": "offset 9 is past the end: the file has 1 lines"}},
		{"an empty file", "", args{}, args{"content": "", "truncated": false, "note": "the file is empty"}},
		{"CRLF and byte order mark are not shown", "\ufeffa\r\nb\r\n", args{}, args{"content": "1|a\n2|b\n", "total_lines": 2.0, "truncated": false}},
		{"invalid bytes are shown safely", "caf\xe9 \xff\xfe\n", args{}, args{"content": "1|caf\ufffd \ufffd\ufffd\n", "total_lines": 1.0, "truncated": false,
			"note": "bytes that are not UTF-8 are shown as \ufffd; patch keeps them in lines it does not change"}},
		{"long lines are cut", strings.Repeat("é", 2500) + "\nb\n", args{}, args{"content": "1|" + strings.Repeat("é", 2000) + "… [line cut]\n2|b\n", "total_lines": 2.0, "truncated": false,
			"note": "1 long line is cut at 2000 characters"}},
		{"very long lines are cut", strings.Repeat("é", 900_000) + "\nb", args{}, args{"content": "1|" + strings.Repeat("é", 2000) + "… [line cut]\n2|b\n", "total_lines": 2.0, "truncated": false,
			"note": "1 long line is cut at 2000 characters"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.want["path"] = w.put("f.txt", tt.text)
			tt.args["path"] = "f.txt"
			if diff := cmp.Diff(tt.want, w.ok("read_file", tt.args)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadPageLimits(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, file.Config{ReadMaxChars: 100, MaxLines: 30})
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "line %02d\n", i+1)
	}
	w.put("f", text.String())
	got := w.ok("read_file", args{"path": "f"})
	content := got["content"].(string)
	if len(content) > 100 || !strings.HasSuffix(content, "|line 09\n") || got["next_offset"] != 10.0 || got["total_lines"] != 50.0 {
		t.Errorf("a page too long is cut at a line's end: %v", got)
	}
	w = newWorldWith(t, file.Config{MaxLines: 30})
	w.put("f", text.String())
	if got := w.ok("read_file", args{"path": "f", "limit": 5000}); got["next_offset"] != 31.0 {
		t.Errorf("the limit is clamped to the page maximum: %v", got["next_offset"])
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("config.yaml", "a: 1\n")
	w.put("pic.png", "x")
	w.put("blob", "ab\x00cd")
	w.put("noise", strings.Repeat("\x01\x02\x03abc", 100))
	w.put("latin1.txt", "caf\xe9 au lait, d\xe9j\xe0 vu\n")
	w.put("utf16.txt", "\xff\xfea\x00b\x00")
	w.put(".env", "KEY=1\n")
	w.put(".env.example", "KEY=\n")
	must(t, os.Symlink(w.path(".env"), w.path("innocent.txt")))
	must(t, os.MkdirAll(filepath.Join(w.home, ".ssh"), 0o700))
	must(t, os.WriteFile(filepath.Join(w.home, ".ssh", "id_ed25519"), []byte("x"), 0o600))
	tests := []struct{ path, want string }{
		{"", "path is empty"},
		{"a\x00b", "NUL"},
		{"config.yml", "config.yaml"},
		{"config.json", "not found. Similar files"},
		{"nowhere/at/all.txt", "not found"},
		{".", "is a folder"},
		{"pic.png", "is an image"},
		{"blob", "binary"},
		{"noise", "binary"},
		{"utf16.txt", "UTF-16"},
		{".env", "credentials"},
		{"innocent.txt", "credentials"},
		{"sub/../.env", "credentials"},
		{"~/.ssh/id_ed25519", "credentials"},
	}
	for _, tt := range tests {
		w.refused("read_file", args{"path": tt.path}, tt.want)
	}
	w.ok("read_file", args{"path": ".env.example"})
	w.ok("read_file", args{"path": "latin1.txt"})
}

func TestReadSeesEachPageOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.put("f.txt", "a\nb\nc\n")
	read := args{"path": "f.txt"}
	unchanged := func(got args) bool { return got["unchanged"] == true }

	if got := w.ok("read_file", read); got["content"] != "1|a\n2|b\n3|c\n" {
		t.Fatalf("first read: %v", got)
	}
	if got := w.ok("read_file", read); !unchanged(got) || got["content"] != nil {
		t.Errorf("second read gives the notice: %v", got)
	}
	w.refused("read_file", read, "BLOCKED")
	w.refused("read_file", args{"path": path}, "BLOCKED")
	if got := w.ok("read_file", args{"path": "f.txt", "offset": 2}); unchanged(got) {
		t.Error("another range gives content")
	}
	w.other()
	if got := w.ok("read_file", read); !unchanged(got) {
		t.Errorf("after another call the notice comes again: %v", got)
	}
	w.env.session = "another"
	if got := w.ok("read_file", read); unchanged(got) {
		t.Error("another session gets content")
	}
	w.env.session = ""
	w.set.Hook().Compacted(t.Context(), hermes.SessionRef{})
	if got := w.ok("read_file", read); unchanged(got) {
		t.Error("after a compression there is content")
	}
	w.ok("write_file", args{"path": "f.txt", "content": "a\nb\nd\n"})
	if got := w.ok("read_file", read); got["content"] != "1|a\n2|b\n3|d\n" {
		t.Errorf("a changed file gives content: %v", got)
	}
	must(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Minute)))
	if got := w.ok("read_file", read); unchanged(got) {
		t.Error("a touched file gives content")
	}
}

func TestReadGoesInCircles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.put("log", "0\n")
	read := func(i int) (args, error) {
		must(t, os.Chtimes(path, time.Now(), time.Now().Add(time.Duration(i)*time.Minute)))
		got, _, err := w.run("read_file", args{"path": "log"})
		return got, err
	}
	for i := range 2 {
		if got, err := read(i); err != nil || got["_warning"] != nil {
			t.Fatalf("read %d: %v %v", i+1, got, err)
		}
	}
	if got, err := read(2); err != nil || got["_warning"] == nil {
		t.Errorf("the third identical read warns: %v %v", got, err)
	}
	if _, err := read(3); err == nil || !strings.Contains(err.Error(), "BLOCKED") {
		t.Errorf("the fourth is blocked: %v", err)
	}
	w.other()
	if _, err := read(4); err != nil {
		t.Errorf("another tool ends the run: %v", err)
	}
}

func TestReadDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("n.ipynb", `{"cells":[{"cell_type":"markdown","source":["# Title\n","text"]},{"cell_type":"code","source":"print(1)","outputs":[{"text":["1\n"]},{"data":{"text/plain":"2","image/png":"AAAA"}},{"ename":"E","evalue":"bad"}]}]}`)
	w.put("d.docx", zipOf(t, map[string]string{"word/document.xml": `<w:document xmlns:w="x"><w:body><w:p><w:r><w:t>Hello &amp; </w:t></w:r><w:r><w:t>bye</w:t></w:r></w:p><w:p><w:r><w:t>two</w:t><w:tab/></w:r></w:p></w:body></w:document>`}))
	w.put("s.xlsx", zipOf(t, map[string]string{
		"xl/sharedStrings.xml":     `<sst><si><t>name</t></si><si><r><t>to</t></r><r><t>tal</t></r></si></sst>`,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row><c r="B2"><v>3.5</v></c></row></sheetData></worksheet>`,
	}))
	w.put("p.pptx", zipOf(t, map[string]string{"ppt/slides/slide2.xml": `<p><a:p><a:t>second</a:t></a:p></p>`, "ppt/slides/slide1.xml": `<p><a:p><a:t>first</a:t></a:p></p>`}))
	w.put("broken.docx", "no zip")
	paper, err := os.ReadFile("../../pdf/testdata/encrypted.pdf")
	if err != nil {
		t.Fatal(err)
	}
	w.put("p.PDF", string(paper))
	w.put("broken.pdf", "no PDF")
	w.put("broken.ipynb", "{")
	for name, want := range map[string]string{
		"n.ipynb": "1|--- cell 1 (markdown)\n2|# Title\n3|text\n4|--- cell 2 (code)\n5|print(1)\n6|--- output\n7|1\n8|\n9|--- output\n10|2\n11|--- output\n12|E: bad\n",
		"d.docx":  "1|Hello & bye\n2|two\t\n",
		"s.xlsx":  "1|--- sheet1\n2|name\t\ttotal\n3|\t3.5\n",
		"p.pptx":  "1|--- slide1\n2|first\n3|\n4|--- slide2\n5|second\n6|\n",
	} {
		if diff := cmp.Diff(want, w.ok("read_file", args{"path": name})["content"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got, _ := w.ok("read_file", args{"path": "p.PDF"})["content"].(string); !strings.HasPrefix(got, "1|Report of the harbour office\n") {
		t.Errorf("%.200q", got)
	}
	w.refused("read_file", args{"path": "broken.pdf"}, "not a valid PDF file")
	w.refused("read_file", args{"path": "broken.docx"}, "not a valid document")
	w.refused("read_file", args{"path": "broken.ipynb"}, "not a valid notebook")
}

func TestReadBoundsPackedDocuments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	row := strings.Repeat(`<row><c r="XFD1"><v>1</v></c></row>`, 5000)
	w.put("s.xlsx", zipOf(t, map[string]string{"xl/worksheets/sheet1.xml": row}))
	w.refused("read_file", args{"path": "s.xlsx"}, "unpacks to more")
}

func zipOf(t *testing.T, parts map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range parts {
		f, err := z.Create(name)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	must(t, z.Close())
	return out.String()
}
