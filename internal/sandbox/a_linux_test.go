package sandbox_test

import (
	"os"
	"testing"

	"hermes/internal/sandbox"
)

func policyA(t testing.TB) sandbox.Policy {
	return sandbox.Policy{Layer: sandbox.A, Read: []string{"/usr", "/etc"}, Write: []string{t.TempDir()}, Temp: t.TempDir(), Home: "/root", PrivateHome: t.TempDir(), Network: sandbox.Proxied}
}

func policyB(t testing.TB) sandbox.Policy {
	p := policyA(t)
	p.Layer = sandbox.B
	return p
}

func TestA(t *testing.T) {
	for _, p := range []sandbox.Policy{policyA(t), policyB(t)} {
		k := mustStart(t, p)
		out, code := sh(t, k, "id; ls /; cat /root/.bashrc; grep -E 'Seccomp|NoNew' /proc/self/status; echo x > "+p.Write[0]+"/f; curl -sS http://127.0.0.1:1/; curl -sS http://1.1.1.1/")
		t.Log(out, code, k.Listener().Addr(), k.Lacks())
		if _, err := os.Stat(p.Write[0] + "/f"); err != nil {
			t.Error(err)
		}
	}
}
