//go:build unix && !linux

package lineage

import (
	"fmt"
	"os"
)

// markFile makes a file that is in no folder, open for reading only.
func markFile(content []byte) (*os.File, error) {
	w, err := os.CreateTemp("", markName+"-")
	if err != nil {
		return nil, fmt.Errorf("mark commands by an open file: %w", err)
	}
	defer os.Remove(w.Name())
	defer w.Close()
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("mark commands by an open file: %w", err)
	}
	f, err := os.Open(w.Name())
	if err != nil {
		return nil, fmt.Errorf("mark commands by an open file: %w", err)
	}
	return f, nil
}
