package shell

// secretPath reports whether the content of a path must not leave this machine
// without a question.
func (j *judge) secretPath(p string) bool {
	return j.protected().Secret(p)
}
