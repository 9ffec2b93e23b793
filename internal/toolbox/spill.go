package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"hermes"
)

var errNoSpill = errors.New("there is no store for large results")

// Spillover is the Spill that writes to the environment's files, so that
// read_file can read the results. On this machine they go to Dir, one folder
// per session; elsewhere to a temporary folder of the environment.
type Spillover struct {
	Dir string
}

// Keep stores a result under the ids of the session and the call.
func (s Spillover) Keep(ctx context.Context, c *hermes.Call, text string) (string, error) {
	if c.Host == nil || c.Host.Environment() == nil {
		return "", errNoSpill
	}
	files := c.Host.Environment().Files()
	// Calls made by other calls may share an id, so the name includes a hash of the text.
	sum := sha256.Sum256([]byte(text))
	session, name := safe(c.Host.Session().ID), safe(c.Name+"-"+c.ID)+"-"+hex.EncodeToString(sum[:4])+".txt"
	at := path.Join("/tmp/hermes-results", session, name)
	if host, ok := files.(hermes.HostFiles); ok && host.OnHost() {
		if s.Dir == "" {
			return "", errNoSpill
		}
		dir := s.Dir
		if l, ok := files.(hermes.LinklessFiles); ok { // nothing of ours puts a link below it
			var err error
			if dir, err = followed(ctx, files, dir); err != nil {
				return "", fmt.Errorf("store the result: %w", err)
			}
			files = l.NoLinks()
		}
		at = filepath.Join(dir, session, name)
	}
	const owner = 0o600
	if err := files.Write(ctx, at, []byte(text), owner); err != nil {
		return "", fmt.Errorf("store the result: %w", err)
	}
	return at, nil
}

// safe turns an id into a file name. A changed or cut id gets a hash, so that
// two ids never share a file.
func safe(id string) string {
	const longest = 80
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, id)
	if name == id && id != "" && len(id) <= longest {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return name[:min(len(name), longest)] + "-" + hex.EncodeToString(sum[:6])
}
