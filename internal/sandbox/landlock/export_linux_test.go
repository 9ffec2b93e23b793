package landlock

import "golang.org/x/sys/unix"

// Build makes the rule set and does not enforce it.
func Build(r Rules) error {
	fd, err := r.build(1)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
