package audit

import (
	"crypto/hmac"
	"fmt"
	"hash"
	"os"
	"strconv"
	"strings"
)

// head says where the record ends. The file head has it in one line of fixed size, which is
// overwritten with each row.
type head struct {
	File int64  // the number of the file with the last row
	Size int64  // of that file, in bytes
	Seq  int64  // of the last row
	MAC  string // its code
}

// headSize is the size of the file head in bytes.
const headSize = len("hermes-audit 1 ") + 3*(19+1) + codeSize + 1 + codeSize + 1

func (h head) encode(k *keys) []byte {
	body := fmt.Appendf(make([]byte, 0, headSize), "hermes-audit 1 %019d %019d %019d %s ", h.File, h.Size, h.Seq, h.MAC)
	return append(append(body, code(k.heads, body)...), '\n')
}

// readHead reads the content of the file head. It reports whether every byte is as it was
// written.
func readHead(k *keys, content []byte) (head, bool) {
	words := strings.Split(string(content), " ")
	if len(content) != headSize || len(words) != 7 {
		return head{}, false
	}
	h := head{MAC: words[5]}
	for i, n := range []*int64{&h.File, &h.Size, &h.Seq} {
		var err error
		if *n, err = strconv.ParseInt(words[2+i], 10, 64); err != nil {
			return head{}, false
		}
	}
	if !hmac.Equal(h.encode(k), content) {
		return head{}, false
	}
	return h, true
}

// tail is the end of the record, open for writing.
type tail struct {
	head
	file, headFile *os.File
	headBytes      []byte // as this process wrote them
	info           os.FileInfo
	headInfo       os.FileInfo
	began          int64 // when the file began, in Unix seconds; 0 if not known
	torn           *Span // bytes after the last row that are no row
	tornHash       hash.Hash
	tornEnded      bool   // they end with a line break
	gap            string // how the record is damaged; "" if it is not
}

// current reports whether the record is as this process wrote it last.
func (t *tail) current() bool {
	now, err := os.Lstat(t.file.Name())
	if err != nil || now.Size() != t.Size || !os.SameFile(now, t.info) {
		return false
	}
	if now, err = os.Lstat(t.headFile.Name()); err != nil || !os.SameFile(now, t.headInfo) {
		return false
	}
	end := make([]byte, len(afterCode))
	if _, err := t.file.ReadAt(end, t.Size-int64(len(end))); err != nil || string(end) != afterCode {
		return false // a row would be on the line of another one
	}
	content := make([]byte, headSize+1)
	n, _ := t.headFile.ReadAt(content, 0) // what cannot be read differs
	return string(content[:n]) == string(t.headBytes)
}

func (t *tail) writeHead(k *keys) error {
	t.headBytes = t.encode(k)
	_, err := t.headFile.WriteAt(t.headBytes, 0)
	return err
}

func (t *tail) close() error {
	var first error
	for _, f := range []*os.File{t.file, t.headFile} {
		if f == nil {
			continue
		}
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	*t = tail{}
	return first
}
