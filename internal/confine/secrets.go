package confine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"hermes"
	"hermes/internal/egress"
	"hermes/internal/egress/swap"
)

// makeSwap makes what puts the declared secrets of the session into its requests.
func (w *Walls) makeSwap() {
	c := w.config.Secrets
	if len(c.Secrets) == 0 {
		return
	}
	c.MayWrite, c.Refused = w.mayWrite, w.refusedSecret
	if w.swap, w.broken = swap.New(c); w.broken != nil {
		w.broken = fmt.Errorf("declared secrets: %w", w.broken)
		w.swap = nil
	}
}

// swapper is the swap as the proxy takes it, nil if there is none.
func (w *Walls) swapper() egress.Swapper {
	if w.swap == nil { // not an interface with nil in it
		return nil
	}
	return w.swap
}

// given lists what programs inside may read of ours: the program, which connects ssh with
// the proxy, and the authorities for declared hosts, which are made first. Call it with the
// lock held.
func (w *Walls) given() ([]string, error) {
	var list []string
	if program, err := ownProgram(); err == nil {
		list = append(list, program)
	}
	list = append(list, w.named()...)
	if w.swap == nil {
		return list, nil
	}
	if w.trust == "" {
		dir, err := w.program.folder(filepath.Join("trust", rand.Text()))
		if err != nil {
			return nil, err
		}
		authorities, err := w.swap.Environ(dir)
		if err != nil { // the next command tries it again
			_ = os.RemoveAll(dir)
			return nil, fmt.Errorf("make the authority for declared secrets: %w", err)
		}
		w.trust, w.authorities = dir, authorities
	}
	return append(list, w.trust), nil
}

// removeAuthorities removes the files of given when the session ends.
func (w *Walls) removeAuthorities() {
	if w.trust != "" {
		_ = os.RemoveAll(w.trust) // of no use to anyone: the key of the authority was in memory
	}
}

// writes are the hosts at which commands that run may change something with a declared
// secret, whatever the session has read.
type writes struct {
	mu      sync.Mutex
	allowed map[string]int // host:port that the user has just allowed
}

// begin allows what a command needs until the returned func is called.
func (w *writes) begin(c hermes.Command) (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.allowed == nil {
		w.allowed = map[string]int{}
	}
	var hosts []string
	for _, n := range c.Need {
		if n.Kind == hermes.RefusedHost {
			hosts = append(hosts, n.Name)
			w.allowed[n.Name]++
		}
	}
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, h := range hosts {
			w.allowed[h]--
		}
	})
}

// mayWrite refuses a request that would change something with a declared secret, if the
// session has read untrusted text and the user has not just allowed the host to a command
// that runs.
func (w *Walls) mayWrite(_ context.Context, r swap.Request) error {
	host := net.JoinHostPort(r.Host, strconv.Itoa(int(r.Port)))
	w.writes.mu.Lock()
	allowed := w.writes.allowed[host] > 0
	w.writes.mu.Unlock()
	if allowed || w.config.Read == nil || hermes.OutsideProvenance(w.config.Read()) == "" {
		return nil
	}
	return errors.New("this session has read untrusted text, so each command that changes something with a secret needs the user's approval: " +
		`run the command again with need: ["host ` + host + `"]`)
}

// refusedSecrets are requests with a secret that were not let through: a bounded record.
type refusedSecrets struct {
	mu   sync.Mutex
	list []refusedSecret
}

type refusedSecret struct {
	refusal hermes.Refusal
	at      time.Time
}

func (w *Walls) refusedSecret(r swap.Refusal) {
	l := &w.swaps
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == maxAddresses {
		l.list = slices.Delete(l.list, 0, 1)
	}
	name := net.JoinHostPort(r.Host, strconv.Itoa(int(r.Port)))
	l.list = append(l.list, refusedSecret{hermes.Refusal{Kind: hermes.RefusedHost, Name: name, Note: r.Text}, time.Now()})
}

// since adds what was refused since a time.
func (l *refusedSecrets) since(out []hermes.Refusal, t time.Time) []hermes.Refusal {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.list {
		if !r.at.Before(t) && !slices.Contains(out, r.refusal) {
			out = append(out, r.refusal)
		}
	}
	return out
}
