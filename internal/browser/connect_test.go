package browser_test

import (
	"net"
	"net/http"
	"testing"
	"time"

	"hermes/internal/browser"
)

// TestAnAddressThatDoesNotAnswerIsNotWaitedForLong, whether it is asked for a WebSocket or is one.
func TestAnAddressThatDoesNotAnswerIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0") // connections are made, and nothing is said
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, scheme := range []string{"http", "ws"} {
		ctx := limited(t)
		_, err := browser.Connect(ctx, scheme+"://"+l.Addr().String(), new(http.Client), browser.Options{CallTimeout: time.Millisecond})
		if err == nil || ctx.Err() != nil {
			t.Errorf("%s: %v, %v", scheme, err, ctx.Err())
		}
	}
}
