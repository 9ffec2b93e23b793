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

// owner names this process among all that may share a home: host, process id,
// and a tail, since ids are used again.
func owner() string {
	var tail [4]byte
	_, _ = rand.Read(tail[:]) // never fails, by its contract
	return fmt.Sprintf("%s:%d:%s", hostname(), os.Getpid(), hex.EncodeToString(tail[:]))
}

// ownerGone reports that an owner was a process of this machine that has ended.
// Of other machines, and of ids that are used again, nothing is known.
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
