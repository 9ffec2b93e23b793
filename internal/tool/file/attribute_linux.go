package file

import "strings"

// belongsToFile reports whether an attribute is the user's, or the access list. The system gives the others.
func belongsToFile(name string) bool {
	return strings.HasPrefix(name, "user.") || name == accessList
}
