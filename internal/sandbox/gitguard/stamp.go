package gitguard

import (
	"io/fs"
	"time"
)

// stamp tells whether the entries of a folder changed. Contents of files are always
// read: writes through a mapping do not change their times at once.
type stamp struct {
	device, inode uint64
	names         uint64 // hard links; 0 if it is not known
	changed       time.Time
	// settled says that the folder had not changed for so long that a later change has
	// another time, however coarse the clock of the file system is.
	settled bool
}

// settle is longer than the coarsest clock of file systems that keep the time of change.
const settle = 3 * time.Second

func (s stamp) holds(now stamp) bool {
	return s.settled && s.inode != 0 && s.inode == now.inode && s.device == now.device && s.changed.Equal(now.changed)
}

func stampOf(info fs.FileInfo, now time.Time) stamp {
	s := identity(info)
	s.settled = now.Sub(s.changed) > settle
	return s
}
