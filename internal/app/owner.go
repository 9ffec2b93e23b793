package app

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"

	"hermes/internal/proc"
)

// owner names this process among all that share a home: host, process id and a
// random suffix, because process ids are reused.
func owner() string {
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails, by its contract
	return fmt.Sprintf("%s:%d:%s", hostname(), os.Getpid(), hex.EncodeToString(tail[:]))
}

// ownerGone reports whether an owner was a process of this machine that has ended.
// It reports false for other machines and for reused ids.
func ownerGone(owner string) bool {
	host, rest, ok := strings.Cut(owner, ":")
	id, _, ok2 := strings.Cut(rest, ":")
	pid, err := strconv.Atoi(id)
	if !ok || !ok2 || err != nil || host != hostname() {
		return false
	}
	return !proc.Alive(pid)
}

func hostname() string {
	host, _ := os.Hostname() // an empty name still leaves the id and the tail
	return strings.ReplaceAll(host, ":", "_")
}
