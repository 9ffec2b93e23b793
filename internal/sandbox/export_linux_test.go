//go:build amd64 || arm64

package sandbox

// KillKeeper kills the process of a keeper.
func KillKeeper(k *Keeper) error { return k.process.Process.Kill() }

// KeeperPID is the process id of a keeper.
func KeeperPID(k *Keeper) int { return k.process.Process.Pid }
