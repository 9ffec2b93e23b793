package auth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"hermes/internal/credential"
	"hermes/internal/usage"
)

// programs lists the programs whose login can be taken over.
func programs() []string {
	var ids []string
	for _, p := range credential.Programs() {
		ids = append(ids, p.ID)
	}
	return ids
}

// takeOver takes over the login of another program if the user consents: the one
// that --from names or, on a terminal, one that is there and fits. It reports
// whether it did.
func (o *addOptions) takeOver(ctx context.Context, name string, pool *credential.Pool) (bool, error) {
	if o.From == "" {
		if o.Yes {
			return false, usage.Errorf("--yes goes with --from PROGRAM")
		}
		if offers := pool.Offers(); o.Type == "" && !o.KeyGiven && len(offers) > 0 && o.Terminal() {
			if o.consents(offers[0].Program, " in "+offers[0].Path) {
				return true, o.addProgram(ctx, name, pool, offers[0].Program)
			}
		}
		return false, nil
	}
	i := slices.IndexFunc(credential.Programs(), func(p credential.Program) bool { return p.ID == strings.ToLower(o.From) })
	switch {
	case i < 0:
		return false, usage.Errorf("unknown program %q; use one of %s", o.From, strings.Join(programs(), ", "))
	case o.KeyGiven || o.Keychain || o.Type != "" && o.Type != "oauth":
		return false, usage.Errorf("--from takes over a login; leave out --api-key, --keychain and --type")
	}
	program := credential.Programs()[i]
	if program.Pool != name {
		return false, usage.Errorf("the login of %s is for %s; run `hermes auth add %s --from %s`", program.Title, program.Pool, program.Pool, program.ID)
	}
	if !o.Yes && !o.Terminal() {
		return false, fmt.Errorf("no terminal to ask on; use --yes to take over the login of %s", program.Title)
	}
	if !o.Yes && !o.consents(program, "") {
		return false, errors.New("nothing was taken over")
	}
	return true, o.addProgram(ctx, name, pool, program)
}

// consents asks the user. Anything but yes is no.
func (o *addOptions) consents(p credential.Program, where string) bool {
	fmt.Fprintf(o.Err, "Use the login of %s%s? Hermes reads it each time it has changed and never writes it. [y/N] ", p.Title, where)
	in := bufio.NewReader(io.LimitReader(o.In, maxKey))
	line, _ := in.ReadString('\n') // the end of the input is a no
	o.In = in
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true
	}
	return false
}

func (o *addOptions) addProgram(ctx context.Context, name string, pool *credential.Pool, p credential.Program) error {
	e, err := pool.Add(ctx, credential.New{Program: p.ID, Label: o.Label, Priority: o.Priority})
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Added the login of %s to %s: %s. ", p.Title, name, ownValidity(e, o.Now()))
	o.next(name)
	return nil
}
