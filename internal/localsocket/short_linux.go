package localsocket

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxPath is how long the path of a socket may be, in bytes.
const maxPath = 107

// Address is the address of a name in a folder.
func Address(folder, name string) string { return filepath.Join(folder, name+suffix) }

func makeFolder(string) error { return nil }

// within is the path of a socket in an open folder. A long one begins at the folder's
// descriptor, because the kernel limits the text and not where it leads to.
func within(folder *os.File, address string) string {
	if len(address) <= maxPath {
		return address
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), filepath.Base(address))
}
