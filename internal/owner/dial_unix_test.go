//go:build linux || darwin

package owner_test

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hermes"
	"hermes/internal/lineage"
	"hermes/internal/localsocket"
	"hermes/internal/owner"
)

func below(int) lineage.Above   { return lineage.Above{Signs: []string{"an inherited file"}} }
func nothing(int) lineage.Above { return lineage.Above{} }

// here is a name in leases of the process that runs the tests.
func here(number string) string { return fmt.Sprintf("host:%d:%s", os.Getpid(), number) }

// TestNothingIsSaidToAnotherProcess that listens where the lease says: not even the key.
func TestNothingIsSaidToAnotherProcess(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		name  string
		above func(int) lineage.Above
	}{
		"the session runs in another one (host:1:aa)":                  {"host:1:aa", nothing},
		"the session runs in another one (aa)":                         {"aa", nothing},
		"the session runs in another one ()":                           {"", nothing},
		"an agent's command started it (found by an inherited file)":   {here("aa"), below},
		"cannot tell whether an agent started it: file does not exist": {here("aa"), func(int) lineage.Above { return lineage.Above{Err: os.ErrNotExist} }},
	} {
		folder := private(t)
		address := filepath.Join(folder, "aa.sock")
		l, err := net.Listen("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		got := make(chan int, 1)
		go func() { // ends with the connection
			conn, err := l.Accept()
			if err != nil {
				got <- -1
				return
			}
			defer conn.Close()
			n, _ := conn.Read(make([]byte, 1))
			got <- n
		}()
		c, err := owner.Dialer{Folder: folder, Above: tt.above}.Dial(t.Context(), hermes.Owner{Name: tt.name, Address: address}, hermes.From{})
		if err == nil {
			_ = c.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if n := <-got; n != 0 {
			t.Errorf("%s: %d bytes were sent", want, n)
		}
	}
}

// TestAgentsDoNotKeepTheUserOut with connections that say nothing.
func TestAgentsDoNotKeepTheUserOut(t *testing.T) {
	t.Parallel()
	const hostile = 100
	var looks atomic.Int32
	looked := make(chan struct{})
	folder := private(t)
	o := owner.New(owner.Config{Folder: folder, Name: here("aa"), Log: slog.New(slog.DiscardHandler), Above: func(pid int) lineage.Above {
		switch n := looks.Add(1); {
		case n == hostile:
			close(looked)
			return below(pid)
		case n < hostile:
			return below(pid)
		}
		return nothing(pid)
	}})
	defer o.Close()
	to := hermes.Owner{Name: here("aa"), Address: o.Address()}
	for range hostile {
		conn, err := localsocket.Dial(t.Context(), to.Address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	<-looked
	c, err := owner.Dialer{Folder: folder, Above: nothing}.Dial(t.Context(), to, hermes.From{})
	if err != nil {
		t.Fatalf("the user is kept out: %v", err)
	}
	_ = c.Close()
}
