package system

import "testing"

func TestReleaseName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ release, kernel, want string }{
		{"PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\nNAME=\"Ubuntu\"\nVERSION_ID=\"24.04\"\n", "6.8.0-31-generic", "Ubuntu 24.04"},
		{"NAME=\"Ubuntu\"\nVERSION_ID=\"22.04\"\n", "5.15.153.1-microsoft-standard-WSL2", "Ubuntu 22.04 (WSL)"},
		{"NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n", "", "Debian 12"},
		{"NAME='Arch Linux'\nID=arch\n", "", "Arch Linux"},
		{"", "", "Linux"},
	} {
		if got := ReleaseName(c.release, c.kernel); got != c.want {
			t.Errorf("%q on %q: %q, want %q", c.release, c.kernel, got, c.want)
		}
	}
}
