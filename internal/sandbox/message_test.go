package sandbox

import (
	"bytes"
	"reflect"
	"testing"
)

func TestMessagesTravelWhole(t *testing.T) {
	t.Parallel()
	for _, m := range []message{
		{},
		{Kind: launch, ID: 1<<32 - 1, N: -1, Flag: true, Text: "/bin/sh", Dir: "/a b", List: []string{"", "-c", "\xff\x00"}, Env: []string{"A=\n"},
			Slots: []int64{0, -1, 2}, Limits: [5]uint64{1, 2, 3, 1<<64 - 1, 512}},
		*order{policy: Policy{Layer: A, Read: []string{"/usr"}, Nested: true}}.encode(),
	} {
		got, err := readMessage(bytes.NewReader(m.encode()), maxToKeeper)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v arrived as %+v, %v", m, got, err)
		}
	}
}

func TestAPolicyTravelsWhole(t *testing.T) {
	t.Parallel()
	p := Policy{
		Layer: A, Read: []string{"/usr", "/etc/a"}, Write: []string{"/w\n"}, Protected: []string{"/w/.git/hooks"}, Hidden: []string{"/w/.env"}, Temp: "/t",
		Home: "/home/u", PrivateHome: "/c/h", Network: Proxied, Nested: true, Devices: []string{"/dev/kvm"},
		Links: []string{"/etc/localtime"},
	}
	if n := reflect.TypeFor[Policy]().NumField(); n != 12 {
		t.Fatalf("a policy has %d fields: carry the new one and set it here", n)
	}
	o := order{p, Target{Canary: "/h/c", Port: 80, Owner: 7}, "hermes-agent", 3}
	got, err := orderOf(o.encode())
	if err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("got %+v, %v, want %+v", got, err, o)
	}
}

func TestALongMessageIsRefused(t *testing.T) {
	t.Parallel()
	m := message{Kind: failed, Text: string(make([]byte, maxFromKeeper))}
	if _, err := readMessage(bytes.NewReader(m.encode()), maxFromKeeper); err == nil {
		t.Error("it was read")
	}
}

// FuzzMessage reads what a keeper that was taken over could send.
func FuzzMessage(f *testing.F) {
	f.Add((&message{Kind: exited, ID: 3, N: 137, Flag: true}).encode())
	f.Add((&message{Kind: answer, Slots: []int64{80, 443}}).encode())
	f.Add((&message{Kind: failed, N: 13, Text: "permission denied"}).encode())
	f.Add(order{policy: Policy{Read: []string{"/usr"}, Temp: "/tmp"}}.encode().encode())
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readMessage(bytes.NewReader(b), maxFromKeeper)
		if err != nil {
			return
		}
		again, err := readMessage(bytes.NewReader(m.encode()), maxFromKeeper*4)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
		if p, err := orderOf(&m); err == nil {
			if q, err := orderOf(p.encode()); err != nil || !reflect.DeepEqual(p, q) {
				t.Fatalf("policy %+v became %+v, %v", p, q, err)
			}
		}
	})
}
