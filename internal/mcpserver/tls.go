package mcpserver

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"time"
)

// certificate is that of an endpoint. It is read again when one of its files has changed.
type certificate struct {
	cert, key string
	log       *slog.Logger

	mu    sync.Mutex
	pair  *tls.Certificate
	state [2]fileState // of the files that were tried last
}

// fileState tells whether a file has changed.
type fileState struct {
	size int64
	time time.Time
	mode os.FileMode
}

func stateOf(i os.FileInfo) fileState { return fileState{i.Size(), i.ModTime(), i.Mode()} }

// load reads the files. Everybody who can read the key could be this server, so a key that all
// users may read is refused.
func (c *certificate) load() error {
	var wrong error
	for i, file := range []string{c.cert, c.key} { // both: what is wrong is said once for the same files
		info, err := os.Stat(file)
		switch {
		case err != nil:
			c.state[i] = fileState{} // read it when it is there again
			wrong = cmp.Or(wrong, fmt.Errorf("the file of %s cannot be read: %w", []string{"--tls-cert", "--tls-key"}[i], err))
			continue
		case i == 1 && runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0:
			wrong = cmp.Or(wrong, fmt.Errorf("every user may read the key %s; run `chmod 600` on it", file))
		}
		c.state[i] = stateOf(info)
	}
	if wrong != nil {
		return wrong
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("the certificate %s and the key %s cannot be used; both must be PEM files, and belong together: %w", c.cert, c.key, err)
	}
	c.pair = &pair
	return nil
}

// changed reports whether a file is another one than at the last try.
func (c *certificate) changed() bool {
	for i, file := range []string{c.cert, c.key} {
		if info, err := os.Stat(file); err == nil && c.state[i] != stateOf(info) {
			return true
		}
	}
	return false
}

// get returns the certificate for a connection. While a new one cannot be used, as in the middle of
// a renewal, the last one stays.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed() {
		if err := c.load(); err != nil {
			c.log.Warn("the certificate of the endpoint has changed, and the last one is kept", "err", err)
		}
	}
	return c.pair, nil
}
