package audit_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/audit"
	"hermes/internal/race"
)

// small is a record of three files.
func small(t *testing.T) *record {
	t.Helper()
	r := newRecord(t, func(o *audit.Options) { o.FileSize = 900 })
	r.add(7)
	if got := r.good(); len(r.files()) != 3 || len(got.Notes) > 0 {
		t.Fatal(r.files(), got)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestEachChangedByteIsFound changes, removes and adds each byte of each file of the record by itself.
func TestEachChangedByteIsFound(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	r := small(t)
	for _, name := range append(r.files(), "head") {
		was := r.read(name)
		for i := range was {
			for how, now := range map[string][]byte{
				"changed":          slices.Replace(slices.Clone(was), i, i+1, was[i]^1),
				"changed in case":  slices.Replace(slices.Clone(was), i, i+1, was[i]^0x20),
				"removed":          slices.Delete(slices.Clone(was), i, i+1),
				"doubled":          slices.Insert(slices.Clone(was), i, was[i]),
				"with a space":     slices.Insert(slices.Clone(was), i, ' '),
				"with a new line":  slices.Insert(slices.Clone(was), i, '\n'),
				"cut":              was[:i],
				"swapped with one": swapped(was, i),
			} {
				if bytes.Equal(was, now) {
					continue
				}
				r.replace(name, now)
				if report := r.verify(); len(report.Problems) == 0 {
					t.Errorf("%s: byte %d %s was not found", name, i, how)
				}
			}
			if t.Failed() {
				return
			}
		}
		for _, end := range []string{"\n", " ", "x", "{", "\r\n", "\x00"} {
			r.replace(name, append(slices.Clone(was), end...))
			if report := r.verify(); end != "{" && len(report.Problems) == 0 {
				t.Errorf("%s: %q at the end was not found", name, end)
			}
		}
		r.replace(name, was)
	}
	r.good()
}

func swapped(was []byte, i int) []byte {
	now := slices.Clone(was)
	if i+1 < len(now) {
		now[i], now[i+1] = now[i+1], now[i]
	}
	return now
}

// TestEachMovedLineIsFound drops and doubles each line, swaps each pair, and moves lines from one file to
// the next, and drops, swaps, renames and doubles files.
func TestEachMovedLineIsFound(t *testing.T) {
	t.Parallel()
	r := small(t)
	files := r.files()
	was := map[string][]byte{}
	for _, name := range append(files, "head") {
		was[name] = r.read(name)
	}
	try := func(what string, change func()) {
		t.Helper()
		change()
		if report := r.verify(); len(report.Problems) == 0 {
			t.Errorf("%s: not found", what)
		}
		for _, name := range r.files() {
			if err := os.Remove(r.file(name)); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range was {
			r.replace(name, content)
		}
	}
	lines := func(name string) [][]byte { return bytes.SplitAfter(bytes.TrimSuffix(was[name], nil), []byte("\n")) }
	for _, name := range files {
		all := lines(name)
		all = all[:len(all)-1] // the empty one
		join := func(lines [][]byte) { r.replace(name, bytes.Join(lines, nil)) }
		for i := range all {
			try(fmt.Sprintf("%s: line %d dropped", name, i), func() { join(slices.Delete(slices.Clone(all), i, i+1)) })
			for j := range len(all) + 1 {
				try(fmt.Sprintf("%s: line %d doubled at %d", name, i, j), func() { join(slices.Insert(slices.Clone(all), j, all[i])) })
			}
			for j := range i {
				try(fmt.Sprintf("%s: lines %d and %d swapped", name, i, j), func() {
					now := slices.Clone(all)
					now[i], now[j] = now[j], now[i]
					join(now)
				})
			}
			try(fmt.Sprintf("%s: lines from %d on dropped", name, i), func() { join(all[:i]) })
			try(fmt.Sprintf("%s: lines to %d dropped", name, i), func() { join(all[i+1:]) })
		}
	}
	for i, name := range files {
		try(name+" dropped", func() { _ = os.Remove(r.file(name)) })
		try(name+" renamed", func() { _ = os.Rename(r.file(name), r.file("00000009.jsonl")) })
		try(name+" copied", func() { r.replace("00000009.jsonl", was[name]) })
		if i == 0 {
			continue
		}
		before := files[i-1]
		try(name+" swapped", func() { r.replace(name, was[before]); r.replace(before, was[name]) })
		try(name+" joined", func() {
			r.replace(before, append(slices.Clone(was[before]), was[name]...))
			_ = os.Remove(r.file(name))
		})
		try(name+" moved back", func() {
			a, b := lines(before), lines(name)
			r.replace(before, append(slices.Clone(was[before]), b[0]...))
			r.replace(name, bytes.Join(b[1:], nil))
			_ = a
		})
		try(name+" moved on", func() {
			a := lines(before)
			last := a[len(a)-2]
			r.replace(before, bytes.TrimSuffix(was[before], last))
			r.replace(name, append(slices.Clone(last), was[name]...))
		})
	}
	try("the head dropped", func() { _ = os.Remove(r.file("head")) })
	try("an empty file", func() { r.replace("00000009.jsonl", nil) })
	try("everything dropped", func() {
		for name := range was {
			_ = os.Remove(r.file(name))
		}
	})
	r.good()
}

// TestDamageStaysInTheRecord goes on after an attack: what the next rows say does not hide it.
func TestDamageStaysInTheRecord(t *testing.T) {
	t.Parallel()
	lastLine := func(r *record) int {
		content := r.read("00000003.jsonl")
		return bytes.LastIndexByte(content[:len(content)-1], '\n') + 1
	}
	for name, attack := range map[string]func(r *record){
		"the last row is removed": func(r *record) { r.replace("00000003.jsonl", r.read("00000003.jsonl")[:lastLine(r)]) },
		"the last row is cut":     func(r *record) { c := r.read("00000003.jsonl"); r.replace("00000003.jsonl", c[:len(c)-20]) },
		"a byte of the last row is changed": func(r *record) {
			c := r.read("00000003.jsonl")
			c[lastLine(r)+20] ^= 1
			r.replace("00000003.jsonl", c)
		},
		"the last row looks unfinished": func(r *record) {
			c := r.read("00000003.jsonl")
			c = append(c[:lastLine(r)+40], bytes.Repeat([]byte("x"), len(c)-lastLine(r)-40)...)
			r.replace("00000003.jsonl", c)
		},
		"the last file is removed": func(r *record) { _ = os.Remove(r.file("00000003.jsonl")) },
		"the head is removed":      func(r *record) { _ = os.Remove(r.file("head")) },
		"the head and the last row are removed": func(r *record) {
			r.replace("00000003.jsonl", r.read("00000003.jsonl")[:lastLine(r)])
			_ = os.Remove(r.file("head"))
		},
		"the head is emptied": func(r *record) { r.replace("head", nil) },
		"the head is garbled": func(r *record) { r.replace("head", bytes.Repeat([]byte("7"), 500)) },
		"all files are removed": func(r *record) {
			for _, f := range r.files() {
				_ = os.Remove(r.file(f))
			}
		},
		"everything but the key is removed": func(r *record) { _ = os.RemoveAll(r.folder) },
		"a line is added":                   func(r *record) { r.replace("00000003.jsonl", append(r.read("00000003.jsonl"), "{}\n"...)) },
		"a blank line is added":             func(r *record) { r.replace("00000003.jsonl", append(r.read("00000003.jsonl"), '\n')) },
		"an empty file is added":            func(r *record) { r.replace("00000004.jsonl", nil) },
		"a file of other bytes is added":    func(r *record) { r.replace("00000004.jsonl", []byte("x")) },
	} {
		for _, open := range []bool{false, true} { // by a new process, and by one that has the files open
			r := small(t)
			if open {
				r.add(1)
				r.good()
			}
			attack(r)
			if len(r.verify().Problems) == 0 {
				t.Errorf("%s: not found at once", name)
			}
			r.add(3)
			report := r.verify()
			if len(report.Problems) == 0 {
				t.Errorf("%s, open %v: hidden by the next rows: %+v", name, open, report)
			}
			if n := len(r.rowsBut()); n < 3 {
				t.Errorf("%s: only %d rows can be read", name, n)
			}
			r.again().add(1) // it goes on, with no further problem
			if now := r.verify(); len(now.Problems) != len(report.Problems) {
				t.Errorf("%s, open %v: %+v, then %+v", name, open, report.Problems, now.Problems)
			}
		}
	}
}

// rowsBut lists the rows that can be read.
func (r *record) rowsBut() []audit.Row {
	var rows []audit.Row
	for row, err := range r.Rows(r.t.Context(), audit.Filter{}) {
		if err == nil {
			rows = append(rows, row)
		}
	}
	return rows
}

// TestAnchors has an older copy of the whole record, which only an anchor tells from the newer one.
func TestAnchors(t *testing.T) {
	t.Parallel()
	r := small(t)
	old := map[string][]byte{}
	for _, name := range append(r.files(), "head") {
		old[name] = r.read(name)
	}
	r.add(2)
	anchor, ok, err := r.Head(t.Context())
	if err != nil || !ok {
		t.Fatal(anchor, ok, err)
	}
	parsed, err := audit.ParseAnchor(anchor.String())
	if err != nil || parsed != anchor {
		t.Fatal(parsed, err)
	}
	r.add(2)
	if report := r.verify(anchor); len(report.Problems) > 0 {
		t.Fatalf("%+v", report)
	}
	for _, name := range r.files() {
		_ = os.Remove(r.file(name))
	}
	for name, content := range old {
		r.replace(name, content)
	}
	if report := r.verify(); len(report.Problems) > 0 {
		t.Fatalf("the test expects that this is not found: %+v", report)
	}
	if report := r.verify(anchor); !says(report, "older copy") {
		t.Errorf("%+v", report)
	}
	r.again().add(5) // other rows with these numbers
	if report := r.verify(anchor); !says(report, "is not the one of the anchor") {
		t.Errorf("%+v", report)
	}
	if err := os.RemoveAll(r.folder); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(r.o.Key); err != nil {
		t.Fatal(err)
	}
	if report := r.verify(anchor); !says(report, "begun again") {
		t.Errorf("%+v", report)
	}
	for _, wrong := range []string{"", "1", "1:2", "0:" + anchor.MAC, "x:" + anchor.MAC, anchor.MAC} {
		if _, err := audit.ParseAnchor(wrong); err == nil {
			t.Errorf("%q is an anchor", wrong)
		}
	}
}

// TestAnotherKeyIsFound has a record that was made with another key, and a key that was changed.
func TestAnotherKeyIsFound(t *testing.T) {
	t.Parallel()
	r := small(t)
	key, err := os.ReadFile(r.o.Key)
	if err != nil {
		t.Fatal(err)
	}
	for i := range key {
		now := slices.Clone(key)
		if now[i] ^= 1; i == len(key)-1 {
			now = key[:i]
		}
		if err := os.WriteFile(r.o.Key, now, 0o600); err != nil {
			t.Fatal(err)
		}
		if report := r.verify(); len(report.Problems) == 0 {
			t.Errorf("byte %d of the key was changed and not found", i)
		}
	}
}

// TestOldFilesLeaveACheckpoint removes files by size and by age.
func TestOldFilesLeaveACheckpoint(t *testing.T) {
	t.Parallel()
	t.Run("by size", func(t *testing.T) {
		t.Parallel()
		r := newRecord(t, func(o *audit.Options) { o.Quota = 300 << 10 })
		r.add(2000)
		report := r.good()
		files := r.files()
		size := 0
		for _, f := range files {
			size += len(r.read(f))
		}
		if report.First == 1 || files[0] == "00000001.jsonl" || size > 300<<10 || len(files) < 3 {
			t.Errorf("%+v, %v, %d bytes", report, files, size)
		}
		// One more file that is missing is not taken for an old one.
		if err := os.Remove(r.file(files[0])); err != nil {
			t.Fatal(err)
		}
		if report := r.verify(); !says(report, "oldest rows were removed") {
			t.Errorf("%+v", report)
		}
	})
	t.Run("by age", func(t *testing.T) {
		t.Parallel()
		now := time.Now()
		r := newRecord(t, func(o *audit.Options) {
			o.Keep = 10 * 24 * time.Hour
			o.Now = func() time.Time { return now }
		})
		for range 30 {
			r.add(1)
			now = now.Add(24 * time.Hour)
		}
		report := r.good()
		if days := now.Sub(r.rows(audit.Filter{})[0].Time).Hours() / 24; days < 10 || days > 12.5 || report.First == 1 {
			t.Errorf("%+v: %v days", report, days)
		}
	})
	t.Run("damaged", func(t *testing.T) {
		t.Parallel()
		r := newRecord(t, func(o *audit.Options) { o.Quota = 300 << 10 })
		r.add(100)
		content := r.read("00000001.jsonl")
		content[500] ^= 1
		r.replace("00000001.jsonl", content)
		r.add(1900)
		if report := r.verify(); slices.Contains(r.files(), "00000001.jsonl") || !says(report, "00000001.jsonl was damaged when it was removed") {
			t.Errorf("%v, %+v", r.files(), report)
		}
	})
}

// TestPruningForgetsNoDamage damages old files before they are removed as old: the record says so for ever, also when
// the row that says it is removed as old itself.
func TestPruningForgetsNoDamage(t *testing.T) {
	t.Parallel()
	firstRows := func(r *record, name string, n int) {
		all := bytes.SplitAfter(r.read(name), []byte("\n"))
		r.replace(name, bytes.Join(all[n:], nil))
	}
	for name, attack := range map[string]func(r *record, files []string){
		"nothing":                                func(*record, []string) {},
		"the oldest file is removed":             func(r *record, files []string) { _ = os.Remove(r.file(files[0])) },
		"the second file is removed":             func(r *record, files []string) { _ = os.Remove(r.file(files[1])) },
		"the first row of the oldest is removed": func(r *record, files []string) { firstRows(r, files[0], 1) },
		"half of the oldest is removed":          func(r *record, files []string) { firstRows(r, files[0], 5) },
		"the first row of the second is removed": func(r *record, files []string) { firstRows(r, files[1], 1) },
		"the oldest is emptied":                  func(r *record, files []string) { r.replace(files[0], nil) },
		"the last row of the oldest is removed": func(r *record, files []string) {
			c := r.read(files[0])
			r.replace(files[0], c[:bytes.LastIndexByte(c[:len(c)-1], '\n')+1])
		},
		"the second is a copy of the third": func(r *record, files []string) { r.replace(files[1], r.read(files[2])) },
		"the head is removed":               func(r *record, _ []string) { _ = os.Remove(r.file("head")) },
		"everything but the key is removed": func(r *record, _ []string) { _ = os.RemoveAll(r.folder) },
	} {
		for _, rows := range []int{3, 100} { // with old files removed before, and without
			t.Run(fmt.Sprint(name, " ", rows), func(t *testing.T) {
				t.Parallel()
				r := newRecord(t, func(o *audit.Options) { o.FileSize, o.Quota = 3000, 12000 })
				r.add(rows)
				for len(r.files()) < 4 {
					r.add(1)
				}
				r.good()
				attack(r, r.files())
				want := name != "nothing"
				if got := len(r.verify().Problems) > 0; got != want {
					t.Fatalf("at once: %+v", r.verify())
				}
				for range 8 {
					r.again().add(40)
					if report := r.verify(); len(report.Problems) > 0 != want {
						t.Fatalf("when old files were removed: %+v", report)
					}
				}
			})
		}
	}
}

// TestUnfinishedRowsAreNoDamageWhenTheyAreOld has killed processes in files that are removed as old.
func TestUnfinishedRowsAreNoDamageWhenTheyAreOld(t *testing.T) {
	t.Parallel()
	r := newRecord(t, func(o *audit.Options) { o.FileSize, o.Quota = 3000, 12000 })
	for range 10 {
		r.add(11)
		files := r.files()
		last := files[len(files)-1]
		r.replace(last, append(r.read(last), fmt.Sprintf(`{"seq":%d,"time":"`, r.good().Last+1)...))
		r = r.again()
	}
	r.add(1)
	if report := r.good(); report.First == 1 || len(report.Notes) == 0 {
		t.Errorf("%+v", report)
	}
}

// TestAKeyWhoseFirstRowFailedIsNoDamage: the same process tries again.
func TestAKeyWhoseFirstRowFailedIsNoDamage(t *testing.T) {
	t.Parallel()
	r := newRecord(t, nil)
	if err := os.MkdirAll(r.file("next.tmp/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.Append(t.Context(), audit.Row{Kind: audit.KindCall}); err == nil || !strings.Contains(err.Error(), "next.tmp") {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.file("next.tmp")); err != nil {
		t.Fatal(err)
	}
	r.add(1)
	r.good()
}

// TestFilesThatNoRecordHasAreFound adds files beside those of the record.
func TestFilesThatNoRecordHasAreFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"00000000.jsonl", "1.jsonl", "000000002.jsonl", "0000000a.jsonl", "00000001.jsonl.jsonl", "-0000001.jsonl"} {
		r := small(t)
		r.replace(name, r.read("00000002.jsonl"))
		if p := r.verify().Problems; len(p) != 1 || p[0].File != name {
			t.Errorf("%s: %+v", name, p)
		}
	}
	r := small(t)
	r.replace("notes.txt", nil)
	if report := r.good(); len(report.Notes) != 1 || report.Notes[0].File != "notes.txt" {
		t.Errorf("%+v", report)
	}
}

func TestProblemsSayWhereAndWhat(t *testing.T) {
	t.Parallel()
	r := small(t)
	content := string(r.read("00000002.jsonl"))
	r.replace("00000002.jsonl", []byte(strings.Replace(content, `"dir":"/work"`, `"dir":"/etc!"`, 1)))
	p := r.verify().Problems
	if len(p) == 0 || p[0].File != "00000002.jsonl" || p[0].Line != 2 || !strings.Contains(p[0].What, "do not fit its code") {
		t.Errorf("%+v", p)
	}
}
