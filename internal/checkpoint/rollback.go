package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/atomicfile"
)

// Rollback is a restore together with messages of a session that are undone after it. It is
// stored before the restore begins and until both are done, so that one that was cut off is known.
type Rollback struct {
	Session  string    `json:"session"`
	Folder   string    `json:"folder"`
	Snapshot string    `json:"snapshot"`       // its id
	Number   int       `json:"number"`         // of the snapshot
	Message  int64     `json:"message"`        // from this one on, messages are undone; 0 undoes none
	Back     int64     `json:"back,omitempty"` // from this one on, messages come back; 0 brings none back
	Time     time.Time `json:"time"`
}

// rollbackFile is the file that keeps the rollback of a session.
func (s *Store) rollbackFile(session string) string {
	return filepath.Join(s.cfg.Folder, "rollbacks", idOf(session)+".json")
}

// BeginRollback stores that a rollback begins, in place of an earlier one of the session.
func (s *Store) BeginRollback(r Rollback) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file := s.rollbackFile(r.Session)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(file, data, atomicfile.Options{})
}

// EndRollback removes what BeginRollback stored for a session, if anything.
func (s *Store) EndRollback(session string) error { return removeIfThere(s.rollbackFile(session)) }

// CutOff returns the rollback of a session that has begun and not ended. ok is false if there is
// none.
func (s *Store) CutOff(session string) (r Rollback, ok bool, err error) {
	data, err := os.ReadFile(s.rollbackFile(session))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, false, fmt.Errorf("read the record of a rollback: %w", err)
	}
	return r, true, nil
}
