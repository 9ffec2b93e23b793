package lineage

import (
	"fmt"
	"os"
)

// Announce makes this process known to its children, and to theirs, as one that
// runs an agent. Call it before the first child is started.
func Announce() error {
	if err := os.WriteFile("/proc/self/comm", []byte(ProcessName), 0); err != nil {
		return fmt.Errorf("name this process: %w", err)
	}
	return nil
}
