//go:build !unix

package codeexecution

import (
	"errors"
	"os"
)

// socketPair reports that this system hands on no open files.
func socketPair() (ours, theirs *os.File, err error) { return nil, nil, errors.ErrUnsupported }
