package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Errors that callers decide by. Each comes wrapped in a text that names the
// file and says what to do next.
var (
	// ErrBusy means that another process kept the database for longer than
	// Config.Busy. Nothing was written; the same call may succeed later.
	ErrBusy = errors.New("the database is busy")
	// ErrCorrupt means that the file is damaged or is no database. It is left
	// as it is; Repair is the way on.
	ErrCorrupt = errors.New("the database is damaged")
	// ErrFull means that there is no room to write. What was stored is kept.
	ErrFull = errors.New("there is no room for the database to grow")
	// ErrNewer means that a newer program wrote the file. It is not touched.
	ErrNewer = errors.New("the database is newer than this program")
	// ErrForeign means that the file belongs to another program.
	ErrForeign = errors.New("the file is not a database of this program")
	// ErrClosed means that the store was used after Close.
	ErrClosed = errors.New("the database is closed")
)

// code is the primary result code of a driver's error, 0 for others.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// uniqueViolation reports whether a row with such a key exists already.
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

// explain turns a driver's error into one that a person can act on.
func (c Config) explain(err error) error {
	switch code(err) {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("%w: another Hermes process holds %s for more than %v; wait for it or stop it, then try again (%v)",
			ErrBusy, c.Path, c.Busy, err)
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return c.damaged(err.Error())
	case lib.SQLITE_FULL:
		return fmt.Errorf("%w: free some space on the disk of %s, or remove old sessions with `hermes sessions prune`; nothing that was stored is lost (%v)",
			ErrFull, c.Path, err)
	case lib.SQLITE_IOERR:
		return fmt.Errorf("reading or writing %s went wrong: check its disk for room and errors; nothing that was stored is lost (%w)", c.Path, err)
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return fmt.Errorf("%s cannot be opened for writing: check who owns it and its folder (%w)", c.Path, err)
	}
	return err
}

func (c Config) damaged(how string) error {
	return fmt.Errorf("%w: %s cannot be read (%s); nothing was overwritten. Run `hermes sessions repair` to save what can be read; the damaged file is kept",
		ErrCorrupt, c.Path, how)
}
