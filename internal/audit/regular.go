package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errIrregular means that a file of the record is a pipe, a link, a folder or a device.
var errIrregular = errors.New("is not a regular file, as the files of the audit log are; move it away")

// openRegular opens a file of the record. What is no regular file is an error, and is never
// waited for, as a named pipe would be.
func openRegular(path string, flag int, perm os.FileMode) (*os.File, error) {
	switch info, err := os.Lstat(path); {
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s %w", path, errIrregular)
	case err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)):
		return nil, err
	}
	f, err := os.OpenFile(path, flag|nonBlock, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() { // it was replaced meanwhile
		err = fmt.Errorf("%s %w", path, errIrregular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
