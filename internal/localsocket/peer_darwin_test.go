package localsocket_test

// handles: the system does not tell when the process at the other end has ended.
func handles() bool { return false }
