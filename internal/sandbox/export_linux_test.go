package sandbox

// KillKeeper kills the process of a keeper.
func KillKeeper(k *Keeper) error { return k.process.Process.Kill() }
