package owner

import (
	"cmp"
	"context"
	"fmt"

	"hermes"
	"hermes/internal/localsocket"
	"hermes/internal/protocol"
	"hermes/internal/protocol/remote"
)

// Dial connects a frontend to the process that listens at an address. folder is the folder "run"
// of the home that both share. If nothing listens there, the error is protocol.ErrConnection.
func Dial(ctx context.Context, folder, address string, from hermes.From) (*remote.Client, error) {
	key, err := localsocket.Key(ctx, folder)
	if err != nil {
		return nil, err
	}
	conn, err := localsocket.Dial(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", protocol.ErrConnection, err)
	}
	return remote.Dial(ctx, remote.NewStream(conn), remote.Hello{Key: key, Name: from.Name, Platform: cmp.Or(from.Platform, "cli")})
}
