//go:build amd64 || arm64

package sandbox

// KillKeeper kills the process of a keeper.
func KillKeeper(k *Keeper) error { return k.inner.Kill() }

// KillGuard kills the guard of a keeper, which nothing inside can from ABI 6 on.
func KillGuard(k *Keeper) error { return k.process.Process.Kill() }

// GuardPID is the process id of the guard of a keeper.
func GuardPID(k *Keeper) int { return k.process.Process.Pid }

// KeeperPID is the process id of a keeper.
func KeeperPID(k *Keeper) int { return k.inner.Pid }

// ListenBut is how a keeper listens for its proxy.
var (
	Listen    = listen
	ListenBut = listenBut
)
