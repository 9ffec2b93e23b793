package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"hermes/internal/ioerr"
)

// Errors that callers check for. Each is wrapped in a text that names the file and
// says what to do.
var (
	// ErrBusy means that another process locked the database for longer than
	// Config.Busy. Nothing was written; the same call may succeed later.
	ErrBusy = errors.New("the database is busy")
	// ErrCorrupt means that the file is damaged or not a database. It is not
	// changed; Repair can save what is readable.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrFull means that the disk is full. Stored data is kept.
	ErrFull = errors.New("there is no space for the database")
	// ErrNewer means that a newer program wrote the file. It is not changed.
	ErrNewer = errors.New("the database is newer than this program")
	// ErrForeign means that the file belongs to another program.
	ErrForeign = errors.New("the file is not a database of this program")
	// ErrEmpty means that the file exists and has no tables. It is not changed, because it
	// is not new: a new file is complete when it appears.
	ErrEmpty = errors.New("the database is empty")
	// ErrReadOnly means that the store was opened for reading, or that its file or folder
	// cannot be written.
	ErrReadOnly = errors.New("the database cannot be written")
	// ErrClosed means that the store was used after Close.
	ErrClosed = errors.New("the database is closed")
)

// code returns the primary result code of a driver's error, 0 for other errors.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// uniqueViolation reports whether a row with the same key already exists.
func uniqueViolation(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE
}

// breaksBatch reports whether an error may have ended the whole transaction.
func breaksBatch(err error) bool {
	switch code(err) {
	case 0, lib.SQLITE_CONSTRAINT:
		return false
	}
	return true
}

// explain turns a driver's error into one that a user can act on.
func (c Config) explain(err error) error {
	switch code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: another Hermes process has locked %s for more than %v; wait for it or stop it, then try again (%v)",
			ErrBusy, c.Path, c.Busy, err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return c.damaged(err.Error())
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: free some space on the disk of %s, or remove old sessions with `hermes sessions prune`; stored data is not lost (%v)",
			ErrFull, c.Path, err)
	case lib.SQLITE_IOERR:
		return fmt.Errorf("cannot read or write %s: check its disk for free space and errors; stored data is not lost (%w)", c.Path, err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fmt.Errorf("%w: check the owner and mode of %s and its folder (%w)", ErrReadOnly, c.Path, err)
	}
	return err
}

// Unwritable reports whether an error of Open is that nothing can be written: the disk is
// full or read-only, or the rights are missing. The file may still be readable.
func Unwritable(err error) bool {
	switch code(err) {
	case lib.SQLITE_FULL, lib.SQLITE_IOERR, lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return true
	}
	return errors.Is(err, ErrFull) || errors.Is(err, ErrReadOnly) || ioerr.Full(err) || ioerr.ReadOnly(err) || errors.Is(err, fs.ErrPermission)
}

// empty explains a file without tables.
func (c Config) empty() error {
	return fmt.Errorf("%w: %s has no content, although it is not new: something has cut it off, or another program made it. Nothing was changed. Run `hermes sessions repair` to take what the last backup holds, or move the file away to start without sessions",
		ErrEmpty, c.Path)
}

func (c Config) damaged(how string) error {
	return fmt.Errorf("%w: %s cannot be read (%s); nothing was overwritten. Run `hermes sessions repair` to save what can be read; the damaged file is kept",
		ErrCorrupt, c.Path, how)
}
