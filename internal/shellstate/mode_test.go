package shellstate_test

import (
	"io/fs"
	"testing"

	"hermes/internal/shellstate"
)

func TestModesOfStatAreThoseOfGo(t *testing.T) {
	t.Parallel()
	for raw, want := range map[uint64]fs.FileMode{
		0o100644: 0o644, 0o104755: fs.ModeSetuid | 0o755, 0o041777: fs.ModeDir | fs.ModeSticky | 0o777, 0o042750: fs.ModeDir | fs.ModeSetgid | 0o750,
		0o120777: fs.ModeSymlink | 0o777, 0o010600: fs.ModeNamedPipe | 0o600, 0o140755: fs.ModeSocket | 0o755,
		0o060660: fs.ModeDevice | 0o660, 0o020666: fs.ModeDevice | fs.ModeCharDevice | 0o666, 0o050644: fs.ModeIrregular | 0o644,
	} {
		if got := shellstate.FileMode(raw); got != want {
			t.Errorf("%o: got %v, want %v", raw, got, want)
		}
	}
}
