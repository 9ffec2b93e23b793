package sqlite

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Config says which file to open and how. Only Path is required.
type Config struct {
	// Path is the database file. Its folder is created if it is missing.
	Path string
	// Journal is "wal" (the default) or "delete", for file systems on which
	// shared memory does not work.
	Journal string
	// Synchronous is "normal" (the default: commits survive the end of the
	// process; a power failure may lose only the last commits), "full" (commits
	// survive a power failure) or "off".
	Synchronous string
	// Busy is how long a write waits for another process; 0 is 5 s.
	Busy time.Duration
	// AutoCheckpoint is the size of the write-ahead log, in pages, at which it
	// is written to the file; 0 is 1000.
	AutoCheckpoint int
	// JournalLimit is the size in bytes to which the log is then truncated;
	// 0 is 64 MiB.
	JournalLimit int64
	// MaxPages limits the file, in pages of 4 KiB; 0 means no limit.
	MaxPages int64
	// Backups is the folder of the copies that AutoBackup makes and Repair uses; empty
	// means that there are none.
	Backups string
	// Readers is the number of connections for reading; 0 is 4.
	Readers int
	// OwnerGone reports whether the owner of a lease has certainly ended. Then its
	// sessions are free before the lease expires. It may be nil.
	OwnerGone func(owner string) bool
	// Now is the clock for leases and for times that the caller does not set;
	// nil is time.Now.
	Now func() time.Time

	creating   bool     // the file is being made
	migrations []string // instead of the embedded ones, for tests
}

func (c Config) withDefaults() (Config, error) {
	if c.Path == "" {
		return c, fmt.Errorf("open the database: the path is empty")
	}
	c.Journal = strings.ToLower(cmp.Or(c.Journal, "wal"))
	if c.Journal != "wal" && c.Journal != "delete" {
		return c, fmt.Errorf("unknown journal mode %q: use wal or delete", c.Journal)
	}
	c.Synchronous = strings.ToLower(cmp.Or(c.Synchronous, "normal"))
	switch c.Synchronous {
	case "off", "normal", "full":
	default:
		return c, fmt.Errorf("unknown synchronous setting %q: use normal, full or off", c.Synchronous)
	}
	c.Busy = cmp.Or(c.Busy, 5*time.Second)
	c.AutoCheckpoint = cmp.Or(c.AutoCheckpoint, 1000)
	c.JournalLimit = cmp.Or(c.JournalLimit, 64<<20)
	c.Readers = cmp.Or(c.Readers, 4)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c.resolved()
}

// resolved follows a path that is a link: the companions of a database are beside the file
// and not beside a link to it. A link that leads nowhere is an error, because its database
// may be on a disk that is not there at the moment.
func (c Config) resolved() (Config, error) {
	info, err := os.Lstat(c.Path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return c, nil // what is missing is made
	}
	path, err := filepath.EvalSymlinks(c.Path)
	if err != nil {
		to, _ := os.Readlink(c.Path)
		return c, fmt.Errorf("the database %s is a link to %s, which cannot be reached: %w; make it reachable, for example by mounting its disk, or remove the link to start without sessions", c.Path, to, err)
	}
	c.Path = path
	return c, nil
}

// dsn returns the file's address for the driver, with the settings that every
// connection needs.
func (c Config) dsn(pragmas ...string) string {
	var b strings.Builder
	b.WriteString("file:")
	b.WriteString(escapePath(c.Path))
	fmt.Fprintf(&b, "?_pragma=busy_timeout(%d)", c.Busy.Milliseconds())
	for _, p := range pragmas {
		b.WriteString("&_pragma=")
		b.WriteString(p)
	}
	return b.String()
}

// escapePath escapes the characters of a path that are special in a URI.
func escapePath(path string) string {
	if os.PathSeparator == '\\' {
		path = strings.ReplaceAll(path, `\`, "/")
		if len(path) > 1 && path[1] == ':' {
			path = "/" + path
		}
	}
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}
