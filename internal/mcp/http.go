package mcp

import (
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/internal/mcp/login"
)

// remote returns how a service is reached.
func (o *Server) remote() (mcp.Transport, func() error, error) {
	if o.cfg.Client == nil {
		return nil, nil, errors.New("MCP servers cannot be reached over the network here")
	}
	client, err := o.cfg.Client(o.set)
	if err != nil {
		return nil, nil, err
	}
	end := func() error { client.CloseIdleConnections(); return nil }
	if o.set.Remote.SSE {
		return &mcp.SSEClientTransport{Endpoint: o.set.Remote.URL, HTTPClient: client, MaxEventSize: maxMessage}, end, nil
	}
	return &mcp.StreamableClientTransport{Endpoint: o.set.Remote.URL, HTTPClient: client, MaxEventSize: maxMessage}, end, nil
}

// reached words an error of a connection: that the user has to log in, if that is it, and never
// with the query of the address, where a key may be.
func (o *Server) reached(err error) error {
	if n, ok := errors.AsType[*login.NeededError](err); ok {
		return n
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if err == nil || o.set.Remote == nil {
		return err
	}
	u, bad := url.Parse(o.set.Remote.URL)
	if bad != nil || u.RawQuery == "" || !strings.Contains(err.Error(), u.RawQuery) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), u.RawQuery, "…"))
}
