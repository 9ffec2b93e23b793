package proc

// Guard does nothing on Windows: the system ends a job with its last handle.
type Guard struct{}

func (*Guard) add(int) {}

func (*Guard) drop(int) {}
