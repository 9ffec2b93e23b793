package swap

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// ServeHTTP answers one request of a child.
func (t *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.running.Add(1)
	defer t.running.Done()
	t.requests.Add(1)
	select {
	case t.swap.requests <- struct{}{}:
		defer func() { <-t.swap.requests }()
	default:
		w.Header().Set("Retry-After", "1")
		t.say(w, http.StatusServiceUnavailable, fmt.Sprintf("Hermes passes on %d requests of this session at a time. "+
			"Try again when others have ended.", t.swap.config.Limits.Requests))
		return
	}
	t.pass(w, r)
}

// pass judges a request, and passes it on to the host and the reply back.
func (t *tunnel) pass(w http.ResponseWriter, r *http.Request) {
	if d := t.check(r); d != nil {
		t.deny(w, r, d)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	passing := newWatch(t.swap.config.Limits.Still, w, cancel)
	defer passing.stop()
	out := t.outgoing(r).WithContext(ctx)
	if out.Body != http.NoBody {
		out.Body = passing.body(out.Body)
	}
	defer out.Body.Close() // no one reads it after this handler
	used, d := t.swapIn(out)
	if d == nil && len(used) > 0 {
		d = t.mayWrite(r, out, used)
	}
	if d != nil {
		t.deny(w, r, d)
		return
	}
	if r.ProtoMajor == 1 {
		// The host may answer before the child has sent everything.
		_ = http.NewResponseController(w).EnableFullDuplex()
	}
	reply, err := t.transport.RoundTrip(out)
	if err != nil && passing.hasEnded() {
		t.say(w, http.StatusGatewayTimeout, fmt.Sprintf("Hermes ended this request to %s: no byte of it passed for %v.", t.address(), passing.after))
		return
	}
	if err != nil {
		t.unreachable(w, r, err)
		return
	}
	defer reply.Body.Close()
	if reply.StatusCode == http.StatusSwitchingProtocols {
		t.join(w, r, reply, passing)
		return
	}
	t.answer(w, r, reply, passing)
}

func (t *tunnel) mayWrite(r, out *http.Request, used []string) *denial {
	ask := t.swap.config.MayWrite
	if ask == nil || !isWrite(out.Method, isUpgrade(r)) && !overrides(out) {
		return nil
	}
	err := ask(r.Context(), Request{Host: t.host, Port: t.port, Method: out.Method, Path: out.URL.EscapedPath(), Secrets: used})
	if err == nil {
		return nil
	}
	return &denial{http.StatusForbidden, fmt.Sprintf("Hermes did not send this request with %s: %v", strings.Join(used, ", "), err)}
}

// deny answers a request that is not passed on, and records it.
func (t *tunnel) deny(w http.ResponseWriter, r *http.Request, d *denial) {
	t.swap.refuse(Refusal{Host: t.host, Port: t.port, Method: r.Method, Path: r.URL.EscapedPath(), Text: t.swap.values.clean(d.text)})
	t.say(w, d.status, d.text)
}

// say answers with a text of Hermes. The text repeats nothing that the host sent: values in it
// could be quoted, cut, or in another case, so that they would not be found.
func (t *tunnel) say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, t.swap.values.clean(text)+"\n") // the child may be gone
}

func (t *tunnel) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the way to cut a connection; net/http catches it
	}
	t.say(w, http.StatusBadGateway, "Hermes could not reach "+t.address()+": "+reason(err))
}

// notDialed is the error of a connection that could not be made.
type notDialed struct{ error }

// reason says why a host did not answer. Errors about what the host sent as HTTP quote it, so
// their text is not used.
func reason(err error) string {
	if dial, ok := errors.AsType[notDialed](err); ok {
		return dial.Error()
	}
	if cert, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return cert.Error()
	}
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return "it did not answer in time"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "it does not speak TLS"
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return "it refused the TLS connection: " + alert.Error()
	}
	return "it ended the connection, or its answer is not valid HTTP"
}

// answer passes the reply of the host on to the child, without values.
func (t *tunnel) answer(w http.ResponseWriter, r *http.Request, reply *http.Response, passing *watch) {
	reply.Body = passing.body(reply.Body)
	body, err := decoded(r, reply)
	if err != nil {
		t.say(w, http.StatusBadGateway, "Hermes cannot look for secrets in the reply of "+t.host+": "+err.Error())
		return
	}
	announced := len(reply.Trailer)
	t.copyHeader(w.Header(), reply)
	w.WriteHeader(reply.StatusCode)
	flush := http.NewResponseController(w).Flush
	if reply.ContentLength < 0 && flush() != nil {
		return
	}
	err = newRelay(t.swap.values, w, flush).copy(body)
	if err == nil {
		// A host that sees its connection being closed may still answer, or end its reply properly.
		err = reply.Request.Context().Err()
	}
	if err != nil {
		panic(http.ErrAbortHandler) // a reply that is not whole must not look whole; net/http catches it
	}
	t.copyTrailer(w.Header(), reply, announced)
}

// copyHeader passes on a header without what concerns the connection, and stops net/http from
// adding fields of its own.
func (t *tunnel) copyHeader(to http.Header, reply *http.Response) {
	dropHops(reply.Header)
	t.cleanInto(to, reply.Header, "")
	for _, name := range []string{"Date", "Content-Type"} {
		if _, ok := to[name]; !ok {
			to[name] = nil
		}
	}
	for name := range reply.Trailer {
		if !t.swap.values.inName(name) {
			to.Add("Trailer", name)
		}
	}
}

// copyTrailer passes on the trailers; those that the host did not announce need a mark.
func (t *tunnel) copyTrailer(to http.Header, reply *http.Response, announced int) {
	prefix := ""
	if len(reply.Trailer) != announced {
		prefix = http.TrailerPrefix
	}
	t.cleanInto(to, reply.Trailer, prefix)
}

// cleanInto copies fields. One whose name holds a value is left out.
func (t *tunnel) cleanInto(to, from http.Header, prefix string) {
	for name, values := range from {
		if t.swap.values.inName(name) {
			continue
		}
		for _, v := range values {
			to[prefix+name] = append(to[prefix+name], t.swap.values.clean(v))
		}
	}
}

// askPlain asks the host for what can be searched: gzip if the child takes it, else no coding.
func askPlain(h http.Header) {
	coding := "identity"
	if lists(h, "Accept-Encoding", "gzip") && h.Get("Range") == "" {
		coding = "gzip"
	}
	h.Set("Accept-Encoding", coding)
}

// decoded returns the body of a reply without its coding, and removes the coding from the
// header.
func decoded(r *http.Request, reply *http.Response) (io.Reader, error) {
	coding := strings.ToLower(strings.TrimSpace(strings.Join(reply.Header["Content-Encoding"], ",")))
	if coding == "" || coding == "identity" {
		return reply.Body, nil
	}
	open, ok := openers[coding]
	switch {
	case !ok:
		return nil, errors.New("it is compressed in a way that Hermes does not know")
	case r.Method == http.MethodHead || reply.StatusCode == http.StatusNotModified:
		return reply.Body, nil // there is none
	case reply.StatusCode == http.StatusPartialContent:
		return nil, errors.New("it is a part of a compressed file; ask for the whole")
	}
	reply.Header.Del("Content-Encoding")
	reply.Header.Del("Content-Length")
	reply.ContentLength = -1
	return &decoder{from: bufio.NewReader(reply.Body), open: open}, nil
}

type opener func(*bufio.Reader) (io.Reader, error)

var openers = map[string]opener{
	"gzip":    openGzip,
	"x-gzip":  openGzip,
	"deflate": openDeflate,
}

func openGzip(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }

// openDeflate reads zlib, as the standard says, or bare deflate, which some servers send.
func openDeflate(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err == nil && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

// decoder opens its stream with the first read, so that the header of a reply need not wait for
// the body. An empty body is no error.
type decoder struct {
	from *bufio.Reader
	open opener
	body io.Reader
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.body == nil {
		if _, err := d.from.Peek(1); err != nil {
			return 0, err
		}
		body, err := d.open(d.from)
		if err != nil {
			return 0, err
		}
		d.body = body
	}
	return d.body.Read(p)
}
