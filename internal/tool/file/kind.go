package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"unicode/utf8"
)

// refuseByName refuses files whose extension shows that they are not text.
func refuseByName(path string) error {
	_, name := splitPath(path)
	ext := ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		ext = strings.ToLower(name[i+1:])
	}
	switch ext {
	case "png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "ico", "heic", "heif", "avif", "psd":
		return fmt.Errorf("%s is an image, which cannot be read as text: use an image tool such as vision_analyze if there is one", path)
	case "zip", "gz", "tgz", "bz2", "xz", "zst", "7z", "rar", "tar", "jar", "war", "whl":
		return fmt.Errorf("%s is an archive: list or unpack it with the terminal tool", path)
	case "exe", "dll", "so", "dylib", "a", "o", "class", "pyc", "pyo", "wasm", "bin", "iso", "dmg",
		"mp3", "mp4", "m4a", "wav", "ogg", "flac", "avi", "mov", "mkv", "webm", "ttf", "otf", "woff", "woff2", "eot",
		"db", "sqlite", "sqlite3", "doc", "xls", "ppt", "odt", "ods", "parquet", "npy", "npz", "pkl", "pt", "onnx":
		return errBinary(path)
	}
	return nil
}

func errBinary(path string) error {
	return fmt.Errorf("%s is a binary file, which cannot be shown as text: inspect it with the terminal tool (file, xxd, strings)", path)
}

// refuseBinary checks the beginning of a file. It returns a reader of the whole
// file, or an error for a binary one.
func refuseBinary(path string, r io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(r, headSize)
	head, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s is UTF-16 text: convert it with the terminal tool, for example with iconv -f UTF-16 -t UTF-8", path)
	}
	if binary(head) {
		return nil, errBinary(path)
	}
	return in, nil
}

// headSize is how much of a file says what it is, in bytes.
const headSize = 8 << 10

// utf16Text reports whether head begins UTF-16 text: it has the byte order mark, or every second byte of
// its ASCII characters is NUL.
func utf16Text(head string) bool {
	if strings.HasPrefix(head, "\xff\xfe") || strings.HasPrefix(head, "\xfe\xff") {
		return true
	}
	const least = 4 // characters
	for _, high := range []int{0, 1} {
		zeros, ascii := 0, 0
		for i := 0; i+1 < len(head); i += 2 {
			c := head[i+1-high]
			switch {
			case head[i+high] == 0 && (c >= ' ' && c < 0x7f || strings.IndexByte("\t\n\r", c) >= 0):
				ascii++
			case c == 0 || head[i+high] == 0:
				zeros++
			}
		}
		if ascii >= least && zeros == 0 && ascii*4 >= len(head) {
			return true
		}
	}
	return false
}

// binary reports whether head has a NUL byte, or more than 30% bytes that do
// not belong in text.
func binary(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	odd := 0
	for i := 0; i < len(head); {
		r, size := utf8.DecodeRune(head[i:])
		switch {
		case r == utf8.RuneError && size == 1 && len(head)-i >= utf8.UTFMax:
			odd++
		case r < ' ' && !strings.ContainsRune("\t\n\r\f\b\x1b", r), r == 0x7f:
			odd++
		}
		i += size
	}
	return odd*10 > len(head)*3
}

// diskFull reports whether a write failed for lack of space or quota.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || quotaReached(err)
}
