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
	"hermes/internal/cmd/factory"
	"hermes/internal/credential"
	"hermes/internal/markup"
	"hermes/internal/usage"
)

// addition is one use of `auth add`.
type addition struct {
	noun
	*factory.Call
	key       string // "-" reads it
	keyGiven  bool
	kind      string
	from      string // a program whose login is taken over
	yes       bool   // consent to that
	noBrowser bool
	credential.New
}

func (n noun) add() *cobra.Command {
	o := &addition{noun: n}
	var priority int
	var cmd *cobra.Command
	cmd = n.verb("add PROVIDER", "Add a key or log in",
		"hermes auth add openrouter\n  hermes auth add anthropic --from claude-code\n  pass show openrouter | hermes auth add openrouter --label work\n  hermes auth add openrouter --type oauth",
		cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, name string, p *credential.Pool) error {
			o.Call, o.keyGiven = c, cmd.Flags().Changed("api-key")
			if cmd.Flags().Changed("priority") {
				o.Priority = &priority
			}
			return o.add(ctx, name, p)
		})
	cmd.Long = "Add a key for a service. Without --api-key, Hermes asks for the key without showing it, or\n" +
		"reads the first line of a pipe. With --type oauth, log in with a browser on this or another machine.\n\n" +
		"With --from, use the login of another program: claude-code, codex, gemini-cli or qwen-code. Hermes\n" +
		"reads it where that program stores it and never changes it. It asks for your consent first."
	flags := cmd.Flags()
	flags.StringVar(&o.key, "api-key", "", "the key, or - to read it from standard input (others may see command-line arguments)")
	flags.StringVar(&o.kind, "type", "", "what to add: api-key or oauth (default: what the service accepts)")
	flags.StringVar(&o.Label, "label", "", "your name for it")
	flags.IntVar(&priority, "priority", 0, "priority: the smallest number is used first (default: last)")
	flags.BoolVar(&o.Keychain, "keychain", false, "store the key in the system keychain instead of auth.json")
	flags.StringVar(&o.from, "from", "", "use the login of this program: "+strings.Join(programs(), ", "))
	flags.BoolVarP(&o.yes, "yes", "y", false, "with --from: consent without being asked")
	flags.BoolVar(&o.noBrowser, "no-browser", false, "print the address instead of opening a browser")
	return cmd
}

func (o *addition) add(ctx context.Context, name string, pool *credential.Pool) error {
	if name == "" {
		return errors.New("a server without a name cannot have keys; name it under providers: in config.yaml and use custom:NAME")
	}
	if program := o.noun.Program(name); program != "" {
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
	if byLogin {
		token, err := o.enter(ctx, login)
		if err != nil {
			return fmt.Errorf("log in at %s: %w", name, err)
		}
		o.Token = &token
	} else if o.Secret, err = o.readKey(name); err != nil {
		return err
	}
	e, err := pool.Add(ctx, o.New)
	if err != nil {
		return err
	}
	where := ""
	if o.Keychain {
		where = ", in the keychain"
	}
	fmt.Fprintf(o.Out, "Added %q to %s%s. ", markup.Visible(e.Label), name, where)
	o.next(name)
	return nil
}

// next says what to do with a service that has a new credential.
func (o *addition) next(name string) {
	if why := o.Missing(name); why != "" {
		o.Say("But %s", why)
		return
	}
	o.Say("List its models with `hermes model list %s`.", name)
}

// unknownLogin says what a login lacks.
func unknownLogin(name string, login credential.Login) error {
	return fmt.Errorf("no login is known for %s; set %s in config.yaml, or add a key with --type api-key", name, strings.Join(login.Lacks(), ", "))
}

// byLogin decides between a key and a login.
func (o *addition) byLogin(name string, login credential.Login, known bool) (bool, error) {
	switch strings.ReplaceAll(strings.ToLower(o.kind), "_", "-") {
	case "oauth", "login":
		if o.keyGiven {
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
		if o.keyGiven || keys {
			return false, nil
		}
		if !known && loginOnly {
			return false, unknownLogin(name, login)
		}
		return known, nil
	}
	return false, fmt.Errorf("unknown type %q; use api-key or oauth", o.kind)
}

// maxKey is the maximum size of a key that is read, in bytes.
const maxKey = 64 << 10

// readKey takes the key from the flag, asks for it, or reads it from a pipe.
func (o *addition) readKey(name string) (hermes.Secret, error) {
	if o.keyGiven && o.key != "-" {
		return hermes.Secret(o.key), nil
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
