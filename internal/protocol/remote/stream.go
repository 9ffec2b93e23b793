package remote

import (
	"io"

	"hermes/internal/jsonrpc"
)

// NewStream returns the messages of a connection, such as a net.Conn, one on each line.
func NewStream(conn io.ReadWriteCloser) jsonrpc.Stream { return jsonrpc.NewLines(conn, MaxReply) }

// limit sets how large a message that is read from a stream may be.
func limit(s jsonrpc.Stream, bytes int) {
	if l, ok := s.(interface{ Limit(bytes int) }); ok {
		l.Limit(bytes)
	}
}
