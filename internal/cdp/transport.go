package cdp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// Transport carries messages. Read and Write are called by one goroutine each. Close ends
// both, and may be called more than once.
type Transport interface {
	// Read returns the next message, or of one that is longer than MaxMessage its beginning
	// and false. The bytes are the caller's.
	Read() (message []byte, whole bool, err error)
	Write(message []byte) error
	Close()
}

// Pipe is the transport of a browser that was started with --remote-debugging-pipe: a zero
// byte ends each message. It closes both ends.
func Pipe(r io.ReadCloser, w io.WriteCloser) Transport {
	return &pipe{from: r, to: w, in: bufio.NewReaderSize(r, 64<<10)}
}

type pipe struct {
	from  io.Closer
	to    io.WriteCloser
	in    *bufio.Reader
	close sync.Once
}

func (p *pipe) Read() ([]byte, bool, error) { return readMessage(p.in, MaxMessage) }

// readMessage reads until a zero byte.
func readMessage(in *bufio.Reader, most int) ([]byte, bool, error) {
	var m bytes.Buffer
	whole := true
	for {
		part, err := in.ReadSlice(0)
		if room := most - m.Len(); whole && len(part) > room+1 {
			part, whole = part[:room], false
			m.Write(part)
		} else if whole {
			m.Write(part)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(m.Bytes(), []byte{0}), whole, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil, false, errors.New("it ended")
		default:
			return nil, false, err
		}
	}
}

func (p *pipe) Write(m []byte) error {
	_, err := p.to.Write(append(m, 0))
	return err
}

func (p *pipe) Close() {
	p.close.Do(func() {
		p.to.Close() // the browser ends
		p.from.Close()
	})
}

// Dial connects to the WebSocket of a running browser.
func Dial(ctx context.Context, url string, client *http.Client) (Transport, error) {
	c, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client})
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("connect to the browser: it answered %s", response.Status)
		}
		return nil, fmt.Errorf("connect to the browser: %w", err)
	}
	c.SetReadLimit(-1) // Read bounds it, without an end of the connection
	life, end := context.WithCancel(context.Background())
	return &socket{c, life, end}, nil
}

type socket struct {
	conn *websocket.Conn
	life context.Context
	end  context.CancelFunc
}

func (s *socket) Read() ([]byte, bool, error) {
	_, r, err := s.conn.Reader(s.life)
	if err != nil {
		return nil, false, err
	}
	m, err := io.ReadAll(io.LimitReader(r, MaxMessage+1))
	if err != nil || len(m) <= MaxMessage {
		return m, true, err
	}
	_, err = io.Copy(io.Discard, r)
	return m[:MaxMessage], false, err
}

func (s *socket) Write(m []byte) error { return s.conn.Write(s.life, websocket.MessageText, m) }

func (s *socket) Close() {
	s.end()
	_ = s.conn.CloseNow()
}
