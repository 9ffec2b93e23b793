package mcp

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/mcpserver"
	"hermes/internal/usage"
)

// serveOptions are the options of `hermes mcp serve`.
type serveOptions struct {
	*factory.Factory
	http     mcpserver.HTTP
	approve  bool
	tokenEnv string
	newToken bool
}

func newServe(f *factory.Factory) *cobra.Command {
	o := &serveOptions{Factory: f}
	cmd := factory.Verb("serve", "Serve conversations, memory and skills to an MCP client", "hermes mcp serve\n  hermes mcp serve --http 127.0.0.1:8123", cobra.NoArgs, o.run)
	cmd.Long = "Serve one MCP client on standard input and output, or several over HTTP. Clients read conversations, memory and\n" +
		"skills, follow events, and send messages. They have no more rights than asking."
	flags := cmd.Flags()
	flags.BoolVar(&o.approve, "allow-approvals", false, "let the client allow or deny risky calls (not over HTTP)")
	flags.StringVar(&o.http.Addr, "http", "", "serve over HTTP at this `address`, such as 127.0.0.1:8123")
	flags.StringVar(&o.tokenEnv, "token-env", "", "take the token from this environment `variable` (default: a random one, in the home)")
	flags.BoolVar(&o.newToken, "new-token", false, "make a new token, which revokes the old one")
	flags.StringVar(&o.http.Cert, "tls-cert", "", "serve TLS with this certificate `file`")
	flags.StringVar(&o.http.Key, "tls-key", "", "`file` with the key of the certificate")
	flags.StringSliceVar(&o.http.Hosts, "allow-host", nil, "also accept requests to this `host:port`")
	flags.StringSliceVar(&o.http.Origins, "allow-origin", nil, "also accept requests of pages of this `origin`")
	return cmd
}

func (o *serveOptions) run(ctx context.Context, c *factory.Call) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if o.http.Addr == "" {
		if o.tokenEnv != "" || o.newToken || o.http.Cert != "" || o.http.Key != "" || len(o.http.Hosts)+len(o.http.Origins) > 0 {
			return usage.Errorf("--token-env, --new-token, --tls-cert, --tls-key, --allow-host and --allow-origin are for --http")
		}
		if factory.IsTerminal(c.In) {
			c.Note("Serving MCP on standard input and output. An MCP client starts this command; see `hermes mcp serve --help`.")
		}
		s, err := o.App().MCPServer(ctx, o.approve)
		if err != nil {
			return err
		}
		return s.Run(ctx, reader(c.In), writer{c.Out})
	}
	return o.overHTTP(ctx, c)
}

func (o *serveOptions) overHTTP(ctx context.Context, c *factory.Call) error {
	if o.approve {
		return usage.Errorf("--allow-approvals is for a client that starts the server: over HTTP, a command of the agent that finds the token could answer for itself. Leave out --http")
	}
	for _, origin := range o.http.Origins {
		if err := mcpserver.CheckOrigin(origin); err != nil {
			return usage.Errorf("--allow-origin: %w", err)
		}
	}
	where, err := o.token()
	if err != nil {
		return err
	}
	l, err := o.http.Listen(ctx)
	if err != nil {
		return err
	}
	s, err := o.App().MCPServer(ctx, false)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	scheme := "http"
	if o.http.Cert != "" {
		scheme = "https"
	}
	c.Note("Serving MCP at %s://%s%s. %s", scheme, l.Addr(), mcpserver.Path, where)
	return s.Serve(ctx, l, o.http)
}

// token sets the check of tokens, and returns a sentence that says where the token is.
func (o *serveOptions) token() (where string, err error) {
	if o.tokenEnv != "" {
		if o.newToken {
			return "", usage.Errorf("--new-token is for the token in the home; change the variable %s instead", o.tokenEnv)
		}
		o.http.Valid, err = mcpserver.FixedToken(o.Global.Getenv(o.tokenEnv))
		if err != nil {
			return "", usage.Errorf("--token-env %s: %w", o.tokenEnv, err)
		}
		return "The token is that of the variable " + o.tokenEnv + ".", nil
	}
	h, err := o.App().Home()
	if err != nil {
		return "", err
	}
	file := mcpserver.TokenFile{Path: h.Join("run", "mcp-token"), Now: o.Now}
	make := file.Make
	if o.newToken {
		make = file.Renew
	}
	until, err := make()
	if err != nil {
		return "", err
	}
	o.http.Valid = file.Valid
	return "The token is the first line of " + file.Path + ", valid until " + until.Local().Format("2006-01-02") + ".", nil
}

// reader closes a stream if it can be closed, which ends a read that waits.
func reader(r io.Reader) io.ReadCloser {
	if c, ok := r.(io.ReadCloser); ok {
		return c
	}
	return io.NopCloser(r)
}

// writer keeps its stream open.
type writer struct{ io.Writer }

func (writer) Close() error { return nil }
