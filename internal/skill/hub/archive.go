package hub

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"hermes/internal/skill/guard"
)

// Limits of an archive.
const (
	maxEntries  = 50_000
	maxUnpacked = 256 << 20 // bytes read of an archive
)

var errBomb = errors.New("the unpacked archive is too large")

// untar returns the files of a .tar.gz whose path keep accepts. With strip, paths
// lose their first folder.
func untar(raw []byte, strip bool, keep func(path string) bool) ([]guard.File, error) {
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	bounded := &io.LimitedReader{R: z, N: maxUnpacked}
	t := tar.NewReader(bounded)
	var out []guard.File
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case bounded.N <= 0 || n > maxEntries:
			return nil, errBomb
		case err == io.EOF:
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("the archive is damaged: %w", err)
		}
		name := h.Name
		if strip {
			_, name, _ = strings.Cut(name, "/")
		}
		if name == "" || !keep(name) {
			continue
		}
		f := guard.File{Path: name}
		switch h.Typeflag {
		case tar.TypeReg:
			if f.Data, err = io.ReadAll(io.LimitReader(t, guard.MaxFile+1)); err != nil {
				return nil, fmt.Errorf("the archive is damaged: %w", err)
			}
		case tar.TypeSymlink, tar.TypeLink:
			f.Target = h.Linkname
		default:
			continue
		}
		if out = append(out, f); len(out) > 2*guard.MaxFiles {
			return nil, errBomb
		}
	}
}

// unzip returns the files of a .zip.
func unzip(raw []byte) ([]guard.File, error) {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("the archive is damaged: %w", err)
	}
	if len(z.File) > 2*guard.MaxFiles {
		return nil, errBomb
	}
	var out []guard.File
	total := 0
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, fmt.Errorf("the archive is damaged: %w", err)
		}
		data, err := io.ReadAll(io.LimitReader(r, guard.MaxFile+1))
		_ = r.Close() // read only
		if err != nil {
			return nil, fmt.Errorf("the archive is damaged: %w", err)
		}
		if total += len(data); total > maxArchive {
			return nil, errBomb
		}
		entry := guard.File{Path: f.Name, Data: data}
		if f.Mode()&fs.ModeSymlink != 0 {
			entry.Data, entry.Target = nil, string(data)
		}
		out = append(out, entry)
	}
	return rooted(out), nil
}

// rooted removes the outer folder if SKILL.md is in one.
func rooted(files []guard.File) []guard.File {
	at := slices.IndexFunc(files, func(f guard.File) bool { return path.Base(f.Path) == "SKILL.md" && strings.Count(f.Path, "/") == 1 })
	if slices.ContainsFunc(files, func(f guard.File) bool { return f.Path == "SKILL.md" }) || at < 0 {
		return files
	}
	return below(files, path.Dir(files[at].Path))
}

// below returns the files in a folder, with paths relative to it.
func below(files []guard.File, folder string) []guard.File {
	if folder == "." || folder == "" {
		return files
	}
	var out []guard.File
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f.Path, folder+"/"); ok {
			f.Path = rest
			out = append(out, f)
		}
	}
	return out
}
