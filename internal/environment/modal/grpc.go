package modal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hermes/internal/environment/rented"
)

// gRPC is a POST over HTTP/2 whose bodies are frames: a byte that is 0, the length in four
// bytes, a message. The status is in the trailers. The usual library would make the program
// much larger.

const mostFrame = 64 << 20

// call is one method of a service of Modal.
type call struct {
	client *rented.Client
	base   string // "" is the address of the client
	method string // with its service
	body   fields
	header map[string]string
	again  bool // may be sent twice
}

// one calls a method and returns its only answer.
func (c call) one(ctx context.Context) (message, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Minute, errors.New("no answer within 3 minutes"))
	defer cancel()
	var answer message
	err := c.client.Repeat(ctx, c.again, func() (time.Duration, error) {
		return c.stream(ctx, func(m message) error {
			answer = m
			return nil
		})
	})
	return answer, err
}

// stream calls a method once and hands each answer to a func, whose error ends it. The
// status of the call is the error, a *rented.Failure with the status of HTTP that means the
// same.
func (c call) stream(ctx context.Context, each func(message) error) (time.Duration, error) {
	head := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(c.body)))
	header := map[string]string{"TE": "trailers"}
	for name, value := range c.header {
		header[name] = value
	}
	resp, wait, err := c.client.Once(ctx, rented.Request{
		Method: "POST", Base: c.base, Path: "/" + c.method, Body: append(head, c.body...), Type: "application/grpc", Header: header,
	})
	if err != nil {
		return wait, err
	}
	defer resp.Body.Close()
	for {
		m, err := readMessage(resp.Body)
		if err == io.EOF {
			return 0, c.status(resp)
		}
		if err == nil {
			err = each(m)
		}
		if err != nil {
			return 0, err
		}
	}
}

func readMessage(r io.Reader) (message, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return message{}, err // io.EOF at the end
	}
	n := binary.BigEndian.Uint32(head[1:])
	if head[0] != 0 || n > mostFrame {
		return message{}, errWire
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return message{}, io.ErrUnexpectedEOF
	}
	return parse(data)
}

// status returns nil if a call succeeded.
func (c call) status(resp *http.Response) error {
	from := resp.Trailer
	if from.Get("Grpc-Status") == "" {
		from = resp.Header // an answer without a body
	}
	code, err := strconv.Atoi(from.Get("Grpc-Status"))
	if err != nil {
		return fmt.Errorf("%w: it ended without a status", errWire)
	}
	if code == 0 {
		return nil
	}
	said, err := url.PathUnescape(from.Get("Grpc-Message"))
	if err != nil {
		said = from.Get("Grpc-Message")
	}
	return c.client.Refusal(httpStatus(code), said)
}

// httpStatus returns the status of HTTP for one of gRPC.
func httpStatus(code int) int {
	switch code {
	case 3, 11:
		return http.StatusBadRequest
	case 4:
		return http.StatusGatewayTimeout
	case 5:
		return http.StatusNotFound
	case 6, 10:
		return http.StatusConflict
	case 7:
		return http.StatusForbidden
	case 8:
		return http.StatusTooManyRequests
	case 9:
		return http.StatusPreconditionFailed
	case 14:
		return http.StatusServiceUnavailable
	case 16:
		return http.StatusUnauthorized
	}
	return http.StatusInternalServerError
}
