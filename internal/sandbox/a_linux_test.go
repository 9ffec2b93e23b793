package sandbox_test

import (
	"os"
	"testing"

	"hermes/internal/sandbox"
)

func policyA(t testing.TB) sandbox.Policy {
	return sandbox.Policy{Layer: sandbox.A, Read: []string{"/usr", "/etc"}, Write: []string{t.TempDir()}, Temp: t.TempDir(), Home: "/root", PrivateHome: t.TempDir(), Network: sandbox.Proxied}
}

func TestA(t *testing.T) {
	p := policyA(t)
	k := mustStart(t, p)
	out, code := sh(t, k, "id; ls /; ps ax; cat /proc/self/status | grep Cap; ls /root; echo x > "+p.Write[0]+"/f; cat /proc/net/tcp")
	t.Log(out, code, k.Listener().Addr())
	if _, err := os.Stat(p.Write[0] + "/f"); err != nil {
		t.Error(err)
	}
}
