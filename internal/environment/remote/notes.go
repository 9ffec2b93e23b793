package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hermes/internal/liveness"
)

// statePrefix begins the names of state folders; the word of the place follows.
const statePrefix = ".hermes-"

// note makes a note of the place on this machine, which shows the next program what to end if
// this one is killed. A place that ends by itself has none.
func (p *place) note() (err error) {
	l, ok := p.runner.(Lasting)
	if !ok || p.notes == "" || p.noted != nil || l.Place() == "" {
		return nil
	}
	if err = os.MkdirAll(p.notes, 0o700); err == nil {
		p.noted, err = liveness.TempFolder(p.notes, noteOf(l.Place())+p.word+"-")
	}
	if err != nil {
		return fmt.Errorf("note what runs in the place: %w", err)
	}
	return nil
}

// noteOf begins the names of the notes of a place.
func noteOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8]) + "-"
}

// endAbandoned ends what programs that were killed have left in the place. What fails is tried
// again by the next program.
func (p *place) endAbandoned(f *facts) {
	if p.noted == nil {
		return
	}
	prefix := noteOf(p.runner.(Lasting).Place())
	notes, _ := os.ReadDir(p.notes) // without it, there are no others
	for _, entry := range notes {
		n := filepath.Join(p.notes, entry.Name())
		rest, ours := strings.CutPrefix(entry.Name(), prefix)
		word, _, _ := strings.Cut(rest, "-")
		if !ours || word == "" || strings.Trim(word, "0123456789abcdef") != "" || !liveness.Ended(filepath.Join(n, liveness.LockName)) {
			continue
		}
		const remove = `trap 'rm -rf -- "$7"' EXIT` + "\n"
		if p.script(remove+endScript, f.state, "", word+".", "", "", rounds(0), path.Join(path.Dir(f.state), statePrefix+word)) == nil && p.script(uncarryScript, f.home, word) == nil {
			_ = os.RemoveAll(n)
		}
	}
}
