package written

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"hermes/internal/atomicfile"
	"hermes/internal/order"
)

// Bounds of what the user is shown, and of what is read for it.
const (
	maxShown  = 20
	maxHashed = 64 << 20 // bytes of one file
	maxExtra  = 100      // files that are only counted
	maxSmall  = 256 << 10
)

// told lists what was found, with what identifies it.
func (f *finder) told() []string {
	order.By(f.found, func(a, b file) int { return cmp.Compare(a.rank, b.rank) })
	var list []string
	for _, one := range f.found[:min(len(f.found), maxShown)] {
		list = append(list, f.shown(one.path)+" ("+content(one)+")")
	}
	if more := len(f.found) - maxShown; more > 0 {
		list = append(list, fmt.Sprintf("and %d more (SHA-256 %s of all)", more, f.digest()))
	}
	switch {
	case f.incomplete && len(list) > 0:
		list = append(list, "there may be more: the folder is too large to be searched")
	case f.incomplete:
		list = append(list, "perhaps some: the folder is too large to be searched")
	}
	return list
}

// shown is how the user is told of a path. A name cannot look like another line.
func (f *finder) shown(path string) string {
	if rel, err := filepath.Rel(f.dir, path); err == nil && !strings.HasPrefix(rel, "..") {
		path = rel
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}

// digest identifies all that was found: by path, size, inode and time of change, and the
// first of those that are not shown also by their content.
func (f *finder) digest() string {
	sum := sha256.New()
	for i, one := range f.found {
		fmt.Fprintf(sum, "%q %d %d %d", one.path, one.info.Size(), number(one.info), changed(one.info).UnixNano())
		if i >= maxShown && i < maxShown+maxExtra && one.info.Size() <= maxSmall {
			io.WriteString(sum, content(one))
		}
		io.WriteString(sum, "\n")
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:sha256.Size/2])
}

// content identifies what is in a file: the first half of its SHA-256, for a long one that
// of its beginning, with its length and the time of its change. For a link it is its target.
func content(one file) string {
	if one.info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(one.path)
		if err != nil {
			return "cannot be read"
		}
		return "link to " + strconv.Quote(target)
	}
	f, err := atomicfile.OpenPath(one.path)
	if err != nil {
		return "cannot be read"
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() { // a pipe may never end
		return "cannot be read"
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(f, maxHashed)); err != nil {
		return "cannot be read"
	}
	id := fmt.Sprintf("SHA-256 %x", sum.Sum(nil)[:sha256.Size/2])
	if info.Size() > maxHashed {
		id += fmt.Sprintf(" of its first 64 MB, %d bytes, changed %s", info.Size(), changed(info).Format(time.RFC3339Nano))
	}
	return id
}
