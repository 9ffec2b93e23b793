package sqlite_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"hermes/internal/store/sqlite"
)

// TestRepairSurvivesAnyDamage: whatever the bytes are, it ends with a sound database.
func TestRepairSurvivesAnyDamage(t *testing.T) {
	t.Parallel()
	sound := tempPath(t)
	if err := filled(t, sqlite.Config{Path: sound}, 4, 6).Close(); err != nil {
		t.Fatal(err)
	}
	whole := content(t, sound)
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 7))
		b := append([]byte(nil), whole...)
		for range 1 + random.IntN(40) {
			at := random.IntN(len(b))
			for i := at; i < min(len(b), at+1+random.IntN(200)); i++ {
				b[i] = byte(random.UintN(256))
			}
		}
		if seed%3 == 0 {
			b = b[:random.IntN(len(b))]
		}
		path := tempPath(t)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		report, err := sqlite.Repair(t.Context(), sqlite.Config{Path: path})
		if errors.Is(err, sqlite.ErrForeign) || errors.Is(err, sqlite.ErrNewer) {
			continue // the damage looks like another program's file
		}
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		s := mustOpen(t, sqlite.Config{Path: path})
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("seed %d: %+v, %v", seed, report, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
