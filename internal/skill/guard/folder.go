package guard

import (
	"bytes"
	"fmt"
	"path"
	"strings"
)

// Limits of a skill.
const (
	MaxFiles = 100
	MaxFile  = 1 << 20 // bytes of one file
	MaxTotal = 8 << 20 // bytes of all
)

// folder checks links, the number of files, their sizes and binaries.
func (r *Report) folder(files []File) {
	add := func(pattern string, s Severity, file, reason string) {
		r.Findings = append(r.Findings, Finding{Pattern: pattern, Severity: s, File: file, Reason: reason})
	}
	total := 0
	for _, f := range files {
		total += len(f.Data)
		switch {
		case f.Target != "" && pointsOutside(f.Path, f.Target):
			add("link_leaves", Critical, f.Path, "a link points outside the skill")
		case len(f.Data) > MaxFile:
			add("large_file", High, f.Path, fmt.Sprintf("the file is larger than %d KB", MaxFile>>10))
		}
		if !local(f.Path) {
			add("path_leaves", Critical, f.Path, "the path of the file is outside the skill")
		}
		switch {
		case program(f.Data):
			add("program", Critical, f.Path, "a compiled program")
		case binary(f.Data) && !media(f.Data):
			add("binary", High, f.Path, "a binary file of an unknown type")
		}
	}
	if len(files) > MaxFiles {
		add("many_files", High, ".", fmt.Sprintf("more than %d files", MaxFiles))
	}
	if total > MaxTotal {
		add("large_skill", High, ".", fmt.Sprintf("larger than %d MB in total", MaxTotal>>20))
	}
}

// pointsOutside reports whether a link points outside the skill.
func pointsOutside(from, target string) bool {
	if path.IsAbs(target) || strings.ContainsAny(target, `\:`) {
		return true
	}
	return !local(path.Join(path.Dir(from), target))
}

// local reports whether a path stays below the folder it is relative to.
func local(p string) bool {
	if p == "" || path.IsAbs(p) || strings.ContainsAny(p, "\\:\x00") {
		return false
	}
	p = path.Clean(p)
	return p != ".." && !strings.HasPrefix(p, "../")
}

// binary reports whether data is not text.
func binary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// program reports whether data is a compiled program.
func program(data []byte) bool {
	for _, magic := range []string{
		"\x7fELF", "MZ\x90", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\x00asm",
	} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	return false
}

// media reports whether data is of a type that may be binary, judged by its
// content: a name proves nothing.
func media(data []byte) bool {
	for _, magic := range []string{
		"\x89PNG\r\n\x1a\n", "\xff\xd8\xff", "GIF87a", "GIF89a", "\x00\x00\x01\x00", "%PDF-", "\x00\x01\x00\x00", "OTTO", "true", "wOFF", "wOF2",
		"ID3", "\xff\xfb", "\xff\xf3", "\xff\xf2", "RIFF", "OggS", "PK\x03\x04", "SQLite format 3\x00", "PAR1",
	} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return true
		}
	}
	return len(data) > 12 && string(data[4:8]) == "ftyp" // MP4
}
