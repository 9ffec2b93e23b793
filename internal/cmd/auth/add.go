package auth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/credential"
	"hermes/internal/usage"
)

// addOptions are the flags and arguments of `auth add`.
type addOptions struct {
	noun
	In        io.Reader
	Out, Err  io.Writer
	Provider  string
	Key       string // "-" reads it
	KeyGiven  bool
	Type      string
	Label     string
	Priority  *int
	Keychain  bool
	NoBrowser bool
	From      string // a program whose login is taken over
	Yes       bool   // consent to that
}

func newAddCmd(n noun) *cobra.Command {
	o := &addOptions{noun: n}
	var priority int
	c := &cobra.Command{
		Use:   "add PROVIDER",
		Short: "Add a key or log in",
		Long: "Add a key for a service. Without --api-key, Hermes asks for the key without showing it, or\n" +
			"reads the first line of a pipe. With --type oauth, log in with a browser on this or another machine.\n\n" +
			"With --from, use the login of another program: claude-code, codex, gemini-cli or qwen-code. Hermes\n" +
			"reads it where that program stores it and never changes it. It asks for your consent first.",
		Example: "  hermes auth add openrouter\n  hermes auth add anthropic --from claude-code\n  pass show openrouter | hermes auth add openrouter --label work\n  hermes auth add openrouter --type oauth",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.In, o.Out, o.Err, o.Provider, o.KeyGiven = c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr(), args[0], c.Flags().Changed("api-key")
			if c.Flags().Changed("priority") {
				o.Priority = &priority
			}
			return add(c.Context(), o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Key, "api-key", "", "the key, or - to read it from standard input (others may see command-line arguments)")
	flags.StringVar(&o.Type, "type", "", "what to add: api-key or oauth (default: what the service accepts)")
	flags.StringVar(&o.Label, "label", "", "your name for it")
	flags.IntVar(&priority, "priority", 0, "priority: the smallest number is used first (default: last)")
	flags.BoolVar(&o.Keychain, "keychain", false, "store the key in the system keychain instead of auth.json")
	flags.StringVar(&o.From, "from", "", "use the login of this program: "+strings.Join(programs(), ", "))
	flags.BoolVarP(&o.Yes, "yes", "y", false, "with --from: consent without being asked")
	flags.BoolVar(&o.NoBrowser, "no-browser", false, "print the address instead of opening a browser")
	return c
}

func add(ctx context.Context, o *addOptions) error {
	name, pool, err := o.Pool(o.Provider)
	if err != nil {
		return err
	}
	if name == "" {
		return errors.New("a server without a name cannot have keys; name it under providers: in config.yaml and use custom:NAME")
	}
	if program := o.Program(name); program != "" {
		return fmt.Errorf("%s is a program, which keeps its own login; start %s in a terminal and log in there", name, program)
	}
	taken, err := o.takeOver(ctx, name, pool)
	if err != nil || taken {
		return err
	}
	login, known := o.Login(name)
	byLogin, err := o.byLogin(name, login, known)
	if err != nil {
		return err
	}
	n := credential.New{Label: o.Label, Priority: o.Priority, Keychain: o.Keychain}
	if byLogin {
		token, err := enter(ctx, o, login)
		if err != nil {
			return fmt.Errorf("log in at %s: %w", name, err)
		}
		n.Token = &token
	} else if n.Secret, err = o.readKey(name); err != nil {
		return err
	}
	e, err := pool.Add(ctx, n)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Added %q to %s%s. ", plain(e.Label), name, inKeychain(o.Keychain))
	o.next(name)
	return nil
}

// next says what to do with a service that has a new credential.
func (o *addOptions) next(name string) {
	if why := o.Missing(name); why != "" {
		fmt.Fprintf(o.Out, "But %s\n", why)
		return
	}
	fmt.Fprintf(o.Out, "List its models with `hermes model list %s`.\n", name)
}

func inKeychain(yes bool) string {
	if yes {
		return ", in the keychain"
	}
	return ""
}

// unknownLogin says what a login lacks.
func unknownLogin(name string, login credential.Login) error {
	return fmt.Errorf("no login is known for %s; set %s in config.yaml, or add a key with --type api-key", name, strings.Join(login.Lacks(), ", "))
}

// byLogin decides between a key and a login.
func (o *addOptions) byLogin(name string, login credential.Login, known bool) (bool, error) {
	switch strings.ReplaceAll(strings.ToLower(o.Type), "_", "-") {
	case "oauth", "login":
		if o.KeyGiven {
			return false, usage.Errorf("use --api-key or --type oauth, not both")
		}
		if !known {
			return false, unknownLogin(name, login)
		}
		return true, nil
	case "api-key", "apikey", "key":
		return false, nil
	case "":
		keys, loginOnly := o.Accepts(name)
		if o.KeyGiven || keys {
			return false, nil
		}
		if !known && loginOnly {
			return false, unknownLogin(name, login)
		}
		return known, nil
	}
	return false, fmt.Errorf("unknown type %q; use api-key or oauth", o.Type)
}

// maxKey is the maximum size of a key that is read, in bytes.
const maxKey = 64 << 10

// readKey takes the key from the flag, asks for it, or reads it from a pipe.
func (o *addOptions) readKey(name string) (hermes.Secret, error) {
	if o.KeyGiven && o.Key != "-" {
		return hermes.Secret(o.Key), nil
	}
	if o.Terminal() {
		fmt.Fprintf(o.Err, "Key for %s (hidden): ", name)
		text, err := o.Hidden()
		fmt.Fprintln(o.Err)
		return hermes.Secret(strings.TrimSpace(text)), err
	}
	line, err := bufio.NewReader(io.LimitReader(o.In, maxKey)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	if strings.TrimSpace(line) == "" {
		return "", errors.New("no key on standard input; pipe it in or use --api-key")
	}
	return hermes.Secret(strings.TrimSpace(line)), nil
}
