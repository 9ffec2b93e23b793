// Package connect is the small program that ssh starts inside the sandbox to reach a host
// through the egress proxy. It is part of the program itself, so that nothing has to be
// installed.
//
// It knows nothing but the variable HTTPS_PROXY and the host that it is given. Start reading
// at Main.
package connect

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Name is the first argument with which a program does this work.
const Name = "hermes-connect"

// Main connects the standard streams with a host if the process was started for that, and
// does not return then. Its arguments are Name, a host, a port, and perhaps a note for the
// user, which it prints. proxy is the variable HTTPS_PROXY.
func Main(proxy string) {
	if len(os.Args) < 4 || os.Args[1] != Name {
		return
	}
	if note := strings.Join(os.Args[4:], " "); note != "" {
		fmt.Fprintln(os.Stderr, "Hermes: "+note)
	}
	if err := run(proxy, net.JoinHostPort(os.Args[2], os.Args[3]), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// run copies both directions until the host ends.
func run(proxy, target string, in io.Reader, out io.Writer) error {
	at, err := url.Parse(proxy)
	if err != nil || at.Host == "" {
		return errors.New("there is no way out here: the variable HTTPS_PROXY is not set")
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		return fmt.Errorf("reach the proxy of the sandbox: %w", err)
	}
	defer conn.Close()
	from, err := open(conn, target, at.User)
	if err != nil {
		return err
	}
	go func() { // ends with the process
		_, _ = io.Copy(conn, in)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(out, from)
	return err
}

// maxText bounds what is shown of a refusal.
const maxText = 4 << 10

// open asks the proxy for a connection. What the host sends is read from its result.
func open(conn net.Conn, target string, user *url.Userinfo) (io.Reader, error) {
	request := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if user != nil {
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(unescaped(user))) + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return nil, fmt.Errorf("ask the proxy of the sandbox: %w", err)
	}
	from := bufio.NewReader(conn)
	r, err := http.ReadResponse(from, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, fmt.Errorf("ask the proxy of the sandbox: %w", err)
	}
	if r.StatusCode == http.StatusOK {
		return from, nil
	}
	text, _ := io.ReadAll(io.LimitReader(r.Body, maxText))
	if len(text) == 0 {
		text = []byte(r.Status)
	}
	return nil, errors.New(strings.TrimSpace(string(text)))
}

func unescaped(u *url.Userinfo) string {
	password, _ := u.Password()
	return u.Username() + ":" + password
}
