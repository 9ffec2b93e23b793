package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coder/websocket"

	"hermes/internal/jsonrpc"
)

// webSocket is a stream of text messages.
type webSocket struct {
	conn   *websocket.Conn
	ctx    context.Context // its end closes the connection without a farewell
	cancel context.CancelFunc
}

// NewWebSocket returns the messages of a WebSocket, each of which is one text message.
func NewWebSocket(conn *websocket.Conn) jsonrpc.Stream {
	ctx, cancel := context.WithCancel(context.Background())
	conn.SetReadLimit(MaxReply)
	return &webSocket{conn, ctx, cancel}
}

// Limit changes how large a message that is read may be.
func (w *webSocket) Limit(bytes int) { w.conn.SetReadLimit(int64(bytes)) }

// Read returns the next message.
func (w *webSocket) Read() ([]byte, error) {
	kind, raw, err := w.conn.Read(w.ctx)
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return nil, fmt.Errorf("%w: %w", jsonrpc.ErrTooLarge, err)
	case websocket.CloseStatus(err) == websocket.StatusNormalClosure, websocket.CloseStatus(err) == websocket.StatusGoingAway:
		return nil, fmt.Errorf("%w: %w", io.EOF, err)
	case err == nil && kind != websocket.MessageText:
		return nil, errors.New("the message is not text")
	}
	return raw, err
}

// Write writes messages.
func (w *webSocket) Write(messages ...[]byte) error {
	for _, m := range messages {
		if err := w.conn.Write(w.ctx, websocket.MessageText, m); err != nil {
			return err
		}
	}
	return nil
}

// farewell is how long the other side may take to say goodbye.
const farewell = time.Second

// Close says goodbye and closes the connection.
func (w *webSocket) Close() error {
	limit := time.AfterFunc(farewell, w.cancel)
	defer limit.Stop()
	defer w.cancel()
	return w.conn.Close(websocket.StatusNormalClosure, "")
}
