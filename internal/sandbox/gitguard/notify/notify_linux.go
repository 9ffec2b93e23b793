package notify

import (
	"bytes"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Watcher watches folders with inotify.
type Watcher struct {
	fd  int
	buf []byte
}

// New returns a watcher for folders below one. It returns ErrNone if that is on a file
// system that other computers change, of which the kernel here is not told.
func New(dir string) (*Watcher, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return nil, err
	}
	switch uint32(fs.Type) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.AFS_SUPER_MAGIC:
		return nil, ErrNone
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &Watcher{fd: fd, buf: make([]byte, 64<<10)}, nil
}

// Add watches a folder, and returns the id in its events. A folder that is watched
// already keeps its id, also under another path.
func (w *Watcher) Add(path string) (int, error) {
	return unix.InotifyAddWatch(w.fd, path, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_MOVED_FROM|unix.IN_DELETE|unix.IN_ONLYDIR|unix.IN_DONT_FOLLOW)
}

// Remove ends the watching of a folder. Events of it may still follow.
func (w *Watcher) Remove(id int) {
	_, _ = unix.InotifyRmWatch(w.fd, uint32(id)) // it may be gone
}

// Read returns the events since the last call, without waiting. lost says that there were
// more than the kernel keeps.
func (w *Watcher) Read() (events []Event, lost bool) {
	for {
		n, err := unix.Read(w.fd, w.buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EAGAIN) || n == 0 {
			return events, lost
		}
		if err != nil {
			return events, true
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			e := (*unix.InotifyEvent)(unsafe.Pointer(&w.buf[at]))
			name := w.buf[at+unix.SizeofInotifyEvent : at+unix.SizeofInotifyEvent+int(e.Len)]
			at += unix.SizeofInotifyEvent + int(e.Len)
			lost = lost || e.Mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0
			name, _, _ = bytes.Cut(name, []byte{0})
			events = append(events, Event{ID: int(e.Wd), Name: string(name), Folder: e.Mask&unix.IN_ISDIR != 0})
		}
	}
}

// Close ends all watching.
func (w *Watcher) Close() { _ = unix.Close(w.fd) }
