package policy_test

import (
	"errors"
	"testing"

	"hermes/internal/policy"
)

// TestLinkedFoldersAreProtectedWhereTheyLeadTo also for a folder that is not there.
func TestLinkedFoldersAreProtectedWhereTheyLeadTo(t *testing.T) {
	t.Parallel()
	r := policy.PathRules{Home: "/home/ada", State: "/gone"}.Linked(func(path string) (string, error) {
		if path != "/home/ada" {
			return "", errors.New("there is no such folder")
		}
		return "/data/people/ada", nil
	})
	for path, want := range map[string]bool{"/home/ada/.ssh/id_rsa": false, "/data/people/ada/.ssh/id_rsa": false, "/data/people/ada/a.txt": true} {
		if got := r.Read(path).Allowed(); got != want {
			t.Errorf("%s: allowed is %t", path, got)
		}
	}
}
