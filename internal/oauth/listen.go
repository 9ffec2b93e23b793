package oauth

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// listener waits for the redirect of the browser.
type listener struct {
	server *http.Server
	done   chan struct{} // closed when Serve has returned
}

// listen opens the redirect address. A port that is taken is not an error: the
// user can paste the address instead.
func (l *Login) listen() error {
	redirect := l.c.Redirect
	if redirect == "" {
		redirect = "http://127.0.0.1:0/callback"
	}
	u, err := url.Parse(redirect)
	if err != nil || u.Host == "" {
		return fmt.Errorf("the redirect address %q is not valid; write it as http://127.0.0.1:PORT/callback", redirect)
	}
	if l.c.Form == FormKey {
		u.Path = strings.TrimRight(u.Path, "/") + "/" + l.state
	}
	if u.Scheme != "http" || !loopback(u.Hostname()) {
		l.redirect = u.String() // the service's own page, which shows the code
		return nil
	}
	port := u.Port()
	if port == "" {
		port = "80"
	}
	socket, err := l.socket, error(nil)
	if l.socket = nil; socket == nil {
		socket, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	}
	if err != nil {
		if port == "0" {
			return fmt.Errorf("listen for the browser: %w", err)
		}
		l.redirect = u.String()
		return nil
	}
	u.Host = net.JoinHostPort(u.Hostname(), strconv.Itoa(socket.Addr().(*net.TCPAddr).Port))
	l.redirect = u.String()
	l.Listening = true
	l.serve(socket, u.Path)
	return nil
}

func (l *Login) serve(socket net.Listener, path string) {
	if path == "" {
		path = "/"
	}
	s := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { l.hear(w, r, path) }),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    64 << 10,
	}
	l.listener = &listener{server: s, done: make(chan struct{})}
	go func() {
		defer close(l.listener.done)
		_ = s.Serve(socket) // ends with Close
	}()
}

// hear answers the browser. It ignores requests that do not belong to this login,
// so that no other page on this machine can end it.
func (l *Login) hear(w http.ResponseWriter, r *http.Request, path string) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil || !loopback(strings.Trim(host, "[]")) || r.Method != http.MethodGet || r.URL.Path != path {
		http.NotFound(w, r)
		return
	}
	got, err := l.returned(r.URL)
	if err != nil {
		page(w, http.StatusBadRequest, err.Error())
		return
	}
	if got.err != nil {
		page(w, http.StatusOK, "The login was not completed. See the terminal for details; you can close this window.")
	} else {
		page(w, http.StatusOK, "You are logged in. You can close this window and go back to the terminal.")
	}
	l.deliver(got)
}

func page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	fmt.Fprintln(w, text)
}

// closeTime is how long the last answer may take to reach the browser.
const closeTime = time.Second

// Close ends the login and waits for the listener to end.
func (l *Login) Close() error {
	if l.listener == nil && l.socket != nil {
		return l.socket.Close()
	}
	if l.listener == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	err := l.listener.server.Shutdown(ctx)
	if err != nil {
		err = l.listener.server.Close()
	}
	<-l.listener.done
	return err
}
