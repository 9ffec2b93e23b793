package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/config"
	"hermes/internal/oauth"
	"hermes/internal/plugin/bundled"
	"hermes/internal/plugin/bundled/login"
	"hermes/internal/services"
	"hermes/internal/text"
)

// loginTime is how long the user may take in the browser.
const loginTime = 15 * time.Minute

// logging is a login for a plugin.
type logging struct {
	clientID, redirect, scope string
	noBrowser, out            bool
}

func (o *logging) flags(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags()
	f.StringVar(&o.clientID, "client-id", "", "the id of your app at the service")
	f.StringVar(&o.redirect, "redirect-uri", "", "where the browser returns to, as your app allows it")
	f.StringVar(&o.scope, "scope", "", "ask for these rights only, with blanks between")
	f.BoolVar(&o.noBrowser, "no-browser", false, "only show the address")
	f.BoolVar(&o.out, "logout", false, "forget the login")
	return cmd
}

// login logs in at the service of a plugin that comes along, outside of its walls.
func (n noun) login() *cobra.Command {
	var o logging
	return o.flags(factory.Verb("login NAME", "Log in at the service of a plugin that comes along", "hermes plugins login spotify", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call) error {
		b, ok := n.find(c.Arg(0))
		if !ok || b.Login == nil {
			return fmt.Errorf("no plugin that comes along and logs in is called %s; `hermes plugins list --available` lists them", text.VisibleName(c.Arg(0)))
		}
		return n.logIn(ctx, c, b, o)
	}))
}

// NewSpotifyCmd makes `hermes auth spotify`, which is `hermes plugins login spotify`.
func NewSpotifyCmd(f *factory.Factory) *cobra.Command {
	n, o := noun{f, bundled.Find}, logging{}
	return o.flags(factory.Verb("spotify", "Log in at Spotify, for the plugin spotify", "hermes auth spotify", cobra.NoArgs, func(ctx context.Context, c *factory.Call) error {
		b, _ := n.find("spotify")
		return n.logIn(ctx, c, b, o)
	}))
}

func (n noun) logIn(ctx context.Context, c *factory.Call, b bundled.Plugin, o logging) error {
	cfg, err := n.Config()
	if err != nil {
		return err
	}
	home, err := n.App().PluginHome(b.Name)
	if err != nil {
		return err
	}
	if o.out {
		switch had, err := login.Remove(home); {
		case err != nil:
			return err
		case !had:
			c.Say("There was no login at %s.", b.Login.Title)
		default:
			c.Say("Forgot the login at %s. To withdraw the right itself, remove the app in the settings of your account there.", b.Login.Title)
		}
		return nil
	}
	if err := n.onlyBundled(cfg.Home().Plugins(), b.Name); err != nil {
		return err
	}
	with := b.Login.OAuth
	if with.ClientID, with.ClientSecret, err = n.client(c, cfg, b, o, home); err != nil {
		return err
	}
	with.Redirect = cmp.Or(o.redirect, with.Redirect)
	if o.scope != "" {
		with.Scopes = strings.Fields(o.scope)
	}
	with.Client, with.Now = services.Client(cfg, "hermes/"+app.Version), n.Now
	ctx, cancel := context.WithTimeoutCause(ctx, loginTime, oauth.ErrExpired)
	defer cancel()
	token, err := n.LogIn(ctx, c, with.Begin, !o.noBrowser)
	if err != nil {
		return err
	}
	if token.Refresh == "" {
		return fmt.Errorf("%s gave no refresh token, so that the login would end soon; check the settings of your app there", b.Login.Title)
	}
	if err := login.Write(ctx, home, login.From(with, token)); err != nil {
		return err
	}
	c.Say("Logged in at %s. Only the plugin %s gets to see it.", b.Login.Title, b.Name)
	return nil
}

// client is the user's own app at the service: as given, set, known from the login before, or asked for.
func (n noun) client(c *factory.Call, cfg *config.Config, b bundled.Plugin, o logging, home string) (id, secret string, err error) {
	before, _ := login.Read(home) // none, or one that is replaced
	set, _ := cfg.LookupEnv(b.Login.IDVariable)
	id = cmp.Or(strings.TrimSpace(o.clientID), set, before.ClientID)
	if b.Login.SecretVariable != "" {
		set, _ := cfg.LookupEnv(b.Login.SecretVariable)
		if secret = cmp.Or(set, before.ClientSecret); secret == "" {
			return "", "", fmt.Errorf("%s\nThen use `hermes config set %s VALUE` and `hermes config set %s VALUE`, and run this again", b.Login.Steps, b.Login.IDVariable, b.Login.SecretVariable)
		}
	}
	if id != "" {
		return id, secret, nil
	}
	if !n.Terminal() {
		return "", "", fmt.Errorf("%s\nThen run this again with --client-id", b.Login.Steps)
	}
	c.Say("%s", b.Login.Steps)
	id, err = n.Line(c.In, c.Out, "Client ID: ")
	if id = strings.TrimSpace(id); id == "" && err == nil {
		err = errors.New("no client id was given")
	}
	return id, secret, err
}
