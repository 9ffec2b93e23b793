package auth

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
func (o *addition) takeOver(ctx context.Context, name string, pool *credential.Pool) (bool, error) {
	if o.from == "" {
		if o.yes {
			return false, usage.Errorf("--yes goes with --from PROGRAM")
		}
		if offers := pool.Offers(); o.kind == "" && !o.keyGiven && len(offers) > 0 && o.Terminal() {
			if o.consents(offers[0].Program, " in "+offers[0].Path) {
				return true, o.addProgram(ctx, name, pool, offers[0].Program)
			}
		}
		return false, nil
	}
	i := slices.IndexFunc(credential.Programs(), func(p credential.Program) bool { return p.ID == strings.ToLower(o.from) })
	switch {
	case i < 0:
		return false, usage.Errorf("unknown program %q; use one of %s", o.from, strings.Join(programs(), ", "))
	case o.keyGiven || o.Keychain || o.kind != "" && o.kind != "oauth":
		return false, usage.Errorf("--from takes over a login; leave out --api-key, --keychain and --type")
	}
	program := credential.Programs()[i]
	if program.Pool != name {
		return false, usage.Errorf("the login of %s is for %s; run `hermes auth add %s --from %s`", program.Title, program.Pool, program.Pool, program.ID)
	}
	if !o.yes && !o.Terminal() {
		return false, fmt.Errorf("no terminal to ask on; use --yes to take over the login of %s", program.Title)
	}
	if !o.yes && !o.consents(program, "") {
		return false, errors.New("nothing was taken over")
	}
	return true, o.addProgram(ctx, name, pool, program)
}

// consents asks the user. Anything but yes is no.
func (o *addition) consents(p credential.Program, where string) bool {
	o.In = bufio.NewReader(o.In) // what follows the answer is read later
	question := fmt.Sprintf("Use the login of %s%s? Hermes reads it each time it has changed and never writes it.", p.Title, where)
	return o.Confirm(o.In, o.Err, question) == nil
}

func (o *addition) addProgram(ctx context.Context, name string, pool *credential.Pool, p credential.Program) error {
	e, err := pool.Add(ctx, credential.New{Program: p.ID, Label: o.Label, Priority: o.Priority})
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Added the login of %s to %s: %s. ", p.Title, name, ownValidity(e, o.Now()))
	o.next(name)
	return nil
}
