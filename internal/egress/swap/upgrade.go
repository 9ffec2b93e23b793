package swap

import (
	"io"
	"net/http"
)

// join connects a child and a host that have switched to WebSocket. What the child sends is
// copied as it is; what the host sends is searched for values, which finds them within one
// frame: no compression was offered.
func (t *tunnel) join(w http.ResponseWriter, r *http.Request, reply *http.Response, passing *watch) {
	host, ok := reply.Body.(io.ReadWriteCloser)
	if !ok || !isUpgrade(r) {
		t.say(w, http.StatusBadGateway, "Hermes could not switch protocols: "+t.host+" did it unasked")
		return
	}
	child, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // the connection is of no more use; net/http catches it
	}
	defer child.Close()
	header := http.Header{}
	t.cleanInto(header, reply.Header, "")
	header.Set("Connection", "Upgrade")
	header.Set("Upgrade", "websocket")
	head := &http.Response{StatusCode: http.StatusSwitchingProtocols, ProtoMajor: 1, ProtoMinor: 1, Header: header}
	if head.Write(buffered) != nil || buffered.Flush() != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer host.Close()
		_, _ = io.Copy(host, passing.reader(buffered)) // its end is the end of the WebSocket
	}()
	_ = newRelay(t.swap.values, child, func() error { return nil }).copy(passing.reader(host))
	child.Close() // ends the copy in the other direction
	<-done
}
