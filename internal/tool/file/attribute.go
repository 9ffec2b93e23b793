package file

import (
	"fmt"
	"strings"
)

// An attribute is an extended attribute of a file: what a user or a program noted with it, or its access list.
type attribute struct {
	name  string
	value []byte
}

// notKept says which attributes a new file did not get, "" if it has all.
func notKept(path string, lost []string) string {
	if len(lost) == 0 {
		return ""
	}
	return fmt.Sprintf("%s lost what was noted with it, since the system does not allow to keep it: %s", path, strings.Join(lost, ", "))
}
