//go:build !unix

package ssh

import (
	"context"
	"os"
)

// share is for systems where files can be handed to another process.
func (s *system) share(context.Context, *attempt, call, *os.File) (session, error) {
	return nil, errNotShared
}
