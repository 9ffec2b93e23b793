package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// pagesOf opens a file of these pages, of 512 bytes each, with a log if there is one.
func pagesOf(t *testing.T, log []byte, list ...[]byte) *File {
	t.Helper()
	head := make([]byte, 512)
	copy(head, magic)
	binary.BigEndian.PutUint16(head[16:], 512)
	path := filepath.Join(t.TempDir(), "hermes.db")
	if err := os.WriteFile(path, append(head, bytes.Join(list, nil)...), 0o600); err != nil {
		t.Fatal(err)
	}
	if log != nil {
		if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// leaf makes a page whose rows are all the same cell.
func leaf(cell []byte, rows int) []byte {
	b := make([]byte, 512)
	at := len(b) - len(cell)
	copy(b[at:], cell)
	b[0] = leafPage
	binary.BigEndian.PutUint16(b[3:], uint16(rows))
	for i := range rows {
		binary.BigEndian.PutUint16(b[8+2*i:], uint16(at))
	}
	return b
}

// continued makes a cell of a row with one value of so many bytes, at most 2 MB, that goes on
// on a page. The size of what stays on the leaf does not matter here.
func continued(size int, next uint32) []byte {
	cell := []byte{byte(size>>14) | 0x80, byte(size>>7) | 0x80, byte(size) & 0x7f, 1}
	local := (512-12)*32/255 - 23
	if l := local + (size-local)%(512-4); l <= 512-35 {
		local = l
	}
	return append(cell, binary.BigEndian.AppendUint32(make([]byte, local), next)...)
}

// circle makes pages that continue on each other, from page first on.
func circle(first, n int) [][]byte {
	var list [][]byte
	for i := range n {
		b := make([]byte, 512)
		binary.BigEndian.PutUint32(b, uint32(first+(i+1)%n))
		list = append(list, b)
	}
	return list
}

// TestSalvageReadsAMultipleOfTheFileAtMost: whatever rows and the pages that continue them
// say about each other.
func TestSalvageReadsAMultipleOfTheFileAtMost(t *testing.T) {
	t.Parallel()
	const links = 20
	for name, page := range map[string][]byte{
		"a row longer than the file":       leaf(continued(2_000_000, 3), 1),
		"many rows on the same pages":      leaf(continued(links*500, 3), 60),
		"many rows longer than the file":   leaf(continued(1_500_000, 3), 60),
		"a row that continues on its leaf": leaf(continued(links*500, 2), 60),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pagesOf(t, nil, append([][]byte{page}, circle(3, links)...)...)
			if err := p.Rows(func(int64, []any) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if most := maxFollowed * p.total(); p.followed > most {
				t.Errorf("%d pages were read for rows, at most %d allowed", p.followed, most)
			}
			if name != "a row longer than the file" {
				return
			}
			if p.followed != 0 {
				t.Errorf("%d pages were read for a row that cannot be", p.followed)
			}
		})
	}
}

// TestSalvageReadsOverlappingRowsAFewTimes: a leaf can name one row hundreds of times.
func TestSalvageReadsOverlappingRowsAFewTimes(t *testing.T) {
	t.Parallel()
	cell := append([]byte{59, 1, 2, 12 + 2*57}, make([]byte, 57)...) // a head of 2 bytes and a blob of 57
	rows := 0
	if err := pagesOf(t, nil, leaf(cell, 180)).Rows(func(int64, []any) error { rows++; return nil }); err != nil {
		t.Fatal(err)
	}
	if rows == 0 || rows > maxOverlap*512/61 {
		t.Errorf("%d rows", rows)
	}
}

// frame is one of a log.
type frame struct {
	page, commit uint32
	fill         byte
	salt         byte // differs from that of the log
}

// logOf makes a log for pages of 512 bytes with true checksums.
func logOf(list ...frame) []byte {
	b := make([]byte, 24)
	binary.BigEndian.PutUint32(b, 0x377f0683)
	binary.BigEndian.PutUint32(b[4:], logVersion)
	binary.BigEndian.PutUint32(b[8:], 512)
	copy(b[16:], "saltsalt")
	x, y := checksum(binary.BigEndian, b, 0, 0)
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, x), y)
	for _, f := range list {
		head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, f.page), f.commit)
		content := bytes.Repeat([]byte{f.fill}, 512)
		x, y = checksum(binary.BigEndian, head, x, y)
		x, y = checksum(binary.BigEndian, content, x, y)
		head = append(head, "saltsalt"...)
		head[8] += f.salt
		head = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(head, x), y)
		b = append(append(b, head...), content...)
	}
	return b
}

// TestSalvageBelievesOnlyWhatTheLogHas: a number of pages in it makes none, and what is not
// of this log, not whole or not committed ends it.
func TestSalvageBelievesOnlyWhatTheLogHas(t *testing.T) {
	t.Parallel()
	cut := func(log []byte, at int, to byte) []byte { log[at] = to; return log }
	second := 32 + 24 + 512
	for name, tt := range map[string]struct {
		log  []byte
		want []int64 // pages whose content is from the log
		more int64   // pages that the file does not have
	}{
		"a commit":                         {logOf(frame{2, 0, 7, 0}, frame{3, 3, 7, 0}), []int64{2, 3}, 1},
		"pages far behind the file":        {logOf(frame{2, 0, 7, 0}, frame{4_000_000_000, 4_294_967_295, 7, 0}), []int64{2, 4_000_000_000}, 1},
		"a huge number of pages":           {logOf(frame{2, 4_294_967_295, 7, 0}), []int64{2}, 0},
		"a page behind those of a commit":  {logOf(frame{9, 0, 7, 0}, frame{2, 2, 7, 0}), []int64{2}, 0},
		"what is not committed":            {logOf(frame{2, 2, 7, 0}, frame{1, 0, 7, 0}), []int64{2}, 0},
		"page 0":                           {logOf(frame{2, 2, 7, 0}, frame{0, 2, 7, 0}, frame{1, 2, 7, 0}), []int64{2}, 0},
		"another salt, left of an old log": {logOf(frame{2, 2, 7, 0}, frame{1, 2, 7, 1}), []int64{2}, 0},
		"a wrong checksum":                 {cut(logOf(frame{2, 2, 7, 0}, frame{1, 2, 7, 0}), second+16, 0xee), []int64{2}, 0},
		"another content":                  {cut(logOf(frame{2, 2, 7, 0}, frame{1, 2, 7, 0}), second+40, 8), []int64{2}, 0},
		"another version":                  {cut(logOf(frame{2, 2, 7, 0}), 7, 9), nil, 0},
		"half a frame":                     {logOf(frame{2, 2, 7, 0}, frame{1, 2, 7, 0})[:second+100], []int64{2}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pagesOf(t, tt.log, make([]byte, 512))
			if got := p.total(); got != 2+tt.more {
				t.Errorf("%d pages, want %d", got, 2+tt.more)
			}
			if len(p.logged) != len(tt.want) {
				t.Errorf("pages of the log: %v, want %v", p.logged, tt.want)
			}
			for _, n := range tt.want {
				if b, err := p.page(n); err != nil || b[0] != 7 {
					t.Errorf("page %d: %v", n, err)
				}
			}
			if b, err := p.page(3); err == nil && tt.more == 0 {
				t.Errorf("page 3 of 2: %v", b)
			}
			if err := p.Rows(func(int64, []any) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
}
