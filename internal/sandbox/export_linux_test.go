//go:build amd64 || arm64

package sandbox

import "time"

// KillKeeper kills the process of a keeper.
func KillKeeper(k *Keeper) error { return k.inner.Kill() }

// KillGuard kills the guard of a keeper, which nothing inside can from ABI 6 on.
func KillGuard(k *Keeper) error { return k.process.Process.Kill() }

// StopSending makes each message to a keeper fail that is sent from now on.
func StopSending(k *Keeper) error { return k.control.conn.SetWriteDeadline(time.Unix(1, 0)) }

// GuardPID is the process id of the guard of a keeper.
func GuardPID(k *Keeper) int { return k.process.Process.Pid }

// KeeperPID is the process id of a keeper.
func KeeperPID(k *Keeper) int { return k.inner.Pid }

// ListenBut is how a keeper listens for its proxy.
var (
	Listen    = listen
	ListenBut = listenBut
)

// Childless reports whether nothing is below a keeper.
func Childless(k *Keeper) bool { return k.childless() }
