// Package owner lets frontends in other processes reach the sessions of this one.
//
// A process listens on a local socket from its first lease on, and its leases say where
// (store.go). Whoever connects must be a process of the same user that no agent started, and show the
// key of the home (admit.go): every command of an agent belongs to the same user, so that
// the user alone proves nothing. [Dialer] is the other side.
//
// The package does not know what sessions are; it lends a protocol.Client. Start at New.
package owner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"hermes/internal/lineage"
	"hermes/internal/localsocket"
	"hermes/internal/protocol"
	"hermes/internal/protocol/remote"
)

// Config says how a process is reached.
type Config struct {
	// Folder is the folder "run" of the home, where sockets and the key are.
	Folder string
	// Name is the name of this process in leases.
	Name string
	// Client is what peers reach.
	Client protocol.Client
	// Above looks for agents above a process; nil looks everywhere.
	Above func(pid int) lineage.Above
	// Version is what peers are told about the program.
	Version string
	Log     *slog.Logger
}

const (
	// maxPeers is how many peers are served at once.
	maxPeers = 64
	// maxLooks is how many are looked at at once; others wait until they are accepted.
	maxLooks = 8
	// maxRefused is how many are told at once why they are refused, and refusalTime how long
	// they have to ask. They take no place of those who may connect.
	maxRefused  = 4
	refusalTime = time.Second
)

// Owner is this process as the owner of sessions. Its methods may be called concurrently.
type Owner struct {
	cfg    Config
	ctx    context.Context // of all connections
	cancel context.CancelFunc
	looks  chan struct{} // one for each peer that is looked at
	places chan struct{} // one for each peer that is served
	turned chan struct{} // one for each peer that is refused
	served sync.WaitGroup

	mu       sync.Mutex
	began    bool // to listen
	closed   bool
	listener *localsocket.Listener
}

// New returns an owner that does not listen yet. The caller must call Close.
func New(cfg Config) *Owner {
	if cfg.Above == nil {
		cfg.Above = lineage.Probe{}.LookAt
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Owner{cfg: cfg, ctx: ctx, cancel: cancel, looks: make(chan struct{}, maxLooks), places: make(chan struct{}, maxPeers), turned: make(chan struct{}, maxRefused)}
}

// Address begins to listen, once, and returns where. It is "" if that failed, which is logged,
// and after Close.
func (o *Owner) Address() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.began && !o.closed {
		o.began = true
		if _, err := localsocket.Key(o.ctx, o.cfg.Folder); err != nil { // a frontend reads it before it connects
			o.cfg.Log.Warn("other terminals cannot attach to the sessions of this process", "error", err)
			return ""
		}
		l, err := localsocket.Listen(address(o.cfg.Folder, o.cfg.Name))
		if err != nil {
			o.cfg.Log.Warn("other terminals cannot attach to the sessions of this process", "error", err)
			return ""
		}
		o.listener = l
		o.served.Go(func() { o.accept(l) }) // ends with Close
	}
	if o.listener == nil || o.closed {
		return ""
	}
	return o.listener.Address()
}

// address is where the owner of leases with this name listens, if it does.
func address(folder, name string) string {
	return localsocket.Address(folder, name[strings.LastIndexByte(name, ':')+1:])
}

// Close ends all connections and removes the socket.
func (o *Owner) Close() error {
	o.mu.Lock()
	l := o.listener
	o.listener, o.closed = nil, true
	o.mu.Unlock()
	o.cancel()
	var err error
	if l != nil {
		err = l.Close()
	}
	o.served.Wait()
	return err
}

// acceptPause is the pause after an accept failed, for example because there are too many open
// files.
const acceptPause = 100 * time.Millisecond

func (o *Owner) accept(l *localsocket.Listener) {
	for {
		conn, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed) || o.ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return
		case err != nil:
			o.cfg.Log.Warn("accept a frontend", "error", err)
			select {
			case <-time.After(acceptPause):
			case <-o.ctx.Done():
			}
			continue
		}
		select {
		case o.looks <- struct{}{}:
			o.served.Go(func() { o.meet(conn) }) // ends with the connection, or with Close
		case <-o.ctx.Done():
			_ = conn.Close()
		}
	}
}

// meet looks at who connected and serves the connection if there is a place for such a peer.
func (o *Owner) meet(conn net.Conn) {
	peer, err := localsocket.PeerOf(conn)
	refused := err
	if !errors.Is(err, localsocket.ErrOtherUser) {
		refused = o.refusal(peer, err)
	}
	<-o.looks
	ctx, places := o.ctx, o.places
	if refused != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(o.ctx, refusalTime)
		defer cancel()
		places = o.turned
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
		o.serve(ctx, conn, peer, refused)
	default:
		o.cfg.Log.Warn("refused a frontend", "pid", peer.PID, "reason", cmp.Or(refused, errMany))
		_ = conn.Close()
	}
}

var errMany = fmt.Errorf("%d are connected, more than that are not served", maxPeers)

// serve serves one connection until it ends.
func (o *Owner) serve(ctx context.Context, conn net.Conn, peer localsocket.Peer, refused error) {
	if errors.Is(refused, localsocket.ErrOtherUser) {
		o.cfg.Log.Warn("refused a frontend", "reason", refused)
		_ = conn.Close()
		return
	}
	err := remote.Serve(ctx, remote.NewStream(conn), remote.Server{
		Client: o.cfg.Client, Admit: o.admit(peer, refused), Name: "hermes " + o.cfg.Version, Log: o.cfg.Log,
	})
	if err != nil && o.ctx.Err() == nil {
		o.cfg.Log.Info("the connection of a frontend ended", "pid", peer.PID, "reason", err)
	}
}

// Tidy removes the sockets in a folder that processes left behind whose lock files are
// gone: nothing in the store names them any more.
func Tidy(ctx context.Context, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var errs []error
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), ".sock")
		if !ok {
			continue
		}
		if _, err := os.Lstat(filepath.Join(folder, number+".lock")); errors.Is(err, os.ErrNotExist) {
			errs = append(errs, localsocket.RemoveStale(ctx, localsocket.Address(folder, number)))
		}
	}
	return errors.Join(errs...)
}
