package faultserver

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"
)

// Front is an address of the server, with TLS, where a program of its own meets
// the planned faults of the network path. Each request has its own connection.
type Front struct {
	// URL is the address: with a proxy, of a host that only the proxy knows.
	URL string
	// Proxy is the address of the proxy; empty without one.
	Proxy string
	// CA is the certificate to trust, as PEM.
	CA []byte

	server   *Server
	tls      *httptest.Server
	strange  *httptest.Server // has a certificate that CA does not vouch for
	address  string
	mu       sync.Mutex
	listener net.Listener
	done     bool
}

// away is how long a refused address stays away: longer than a program takes
// to start, shorter than it retries.
const away = 2 * time.Second

// proxiedHost is in the certificate of httptest.
const proxiedHost = "example.com"

// FrontFor returns whether a front can make the network fault, and whether it
// needs a proxy for it. Names are resolved by the system, so that no front
// makes them fail.
func FrontFor(f Fault) (possible, proxy bool) {
	switch f.Name {
	case "TLS alert", "certificate", "TLS spoken to a plain server", "refused":
		return true, false
	case "proxy refuses", "proxy is down":
		return true, true
	}
	return false, false
}

// NewFront starts a front; plan the faults before. The caller must close it
// before the server.
func NewFront(s *Server, proxy bool) (*Front, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &Front{server: s, listener: listener, address: listener.Addr().String()}
	f.tls = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set(faultHeader, noFault) // chosen when the connection came
		s.ServeHTTP(w, r)
	}))
	f.tls.Config.ErrorLog = quiet()
	f.tls.Config.SetKeepAlivesEnabled(false)
	f.tls.StartTLS()
	f.strange = httptest.NewUnstartedServer(http.NotFoundHandler())
	f.strange.Config.ErrorLog = quiet()
	own, err := selfSigned()
	if err != nil {
		return nil, err
	}
	f.strange.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
	f.strange.StartTLS()
	f.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.tls.Certificate().Raw})
	f.URL = "https://" + f.address
	if proxy {
		f.URL, f.Proxy = "https://"+proxiedHost, "http://"+f.address
	}
	if !f.leave() {
		go f.accept(listener)
	}
	return f, nil
}

// Close ends the front and its connections.
func (f *Front) Close() {
	f.mu.Lock()
	f.done = true
	if f.listener != nil {
		_ = f.listener.Close()
	}
	f.mu.Unlock()
	f.tls.CloseClientConnections()
	f.tls.Close()
	f.strange.Close()
}

// leave closes the address for a while if the next request is to be refused.
func (f *Front) leave() bool {
	f.server.mu.Lock()
	refused := len(f.server.plan) > 0 && (f.server.plan[0].Name == "refused" || f.server.plan[0].Name == "proxy is down")
	f.server.mu.Unlock()
	if !refused {
		return false
	}
	f.server.next(0)
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.listener.Close()
	f.listener = nil
	time.AfterFunc(away, f.comeBack)
	return true
}

func (f *Front) comeBack() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return
	}
	listener, err := net.Listen("tcp", f.address)
	if err != nil { // another program took the port: the fault stays
		return
	}
	f.listener = listener
	go f.accept(listener)
}

func (f *Front) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		fault := f.server.next(0)
		left := f.leave()
		go f.serve(conn, fault)
		if left {
			return
		}
	}
}

// serve connects one connection with the server that its fault asks for.
func (f *Front) serve(conn net.Conn, fault *Fault) {
	defer conn.Close()
	name := ""
	if fault != nil {
		name = fault.Name
	}
	var client io.Reader = conn
	if f.Proxy != "" {
		buffered := bufio.NewReader(conn)
		if _, err := http.ReadRequest(buffered); err != nil {
			return
		}
		answer := "HTTP/1.1 200 Connection established\r\n\r\n"
		if name == "proxy refuses" {
			answer = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
		}
		if _, err := io.WriteString(conn, answer); err != nil || name == "proxy refuses" {
			return
		}
		client = buffered
	}
	to := f.tls.URL
	switch name {
	case "TLS alert":
		to = f.server.net.alert.URL
	case "certificate":
		to = f.strange.URL
	case "TLS spoken to a plain server":
		to = f.server.net.proxy.URL
	}
	u, err := url.Parse(to)
	if err != nil {
		return
	}
	behind, err := net.Dial("tcp", u.Host)
	if err != nil {
		return
	}
	defer behind.Close()
	go func() {
		_, _ = io.Copy(behind, client) // ends when either side closes
		_ = behind.Close()
	}()
	_, _ = io.Copy(conn, behind)
}

// selfSigned returns a certificate that no one vouches for.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{proxiedHost},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, err
}
