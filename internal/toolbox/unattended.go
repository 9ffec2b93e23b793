package toolbox

import (
	"strings"

	"hermes"
)

// ownRisks begin the keys of risks that change Hermes itself: its settings, what it
// remembers, its files, or a second agent with other rights.
var ownRisks = []string{"self-", "own-", "path:own-", "write-hermes"}

// AllowedUnattended reports whether a setting may allow a risk where no user can be
// asked. It never covers what only the user may allow, nor what would change the
// settings themselves.
func AllowedUnattended(r hermes.Risk) bool {
	if r.Deny || r.NoRemember {
		return false
	}
	for _, own := range ownRisks {
		if strings.HasPrefix(r.Key, own) {
			return false
		}
	}
	return true
}
