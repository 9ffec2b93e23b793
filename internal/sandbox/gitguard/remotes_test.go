package gitguard_test

import (
	"slices"
	"testing"

	"hermes/internal/sandbox/gitguard"
)

// TestARemoteKeepsItsAddresses: what a session saw of remotes counts, not only what there
// was a moment ago.
func TestARemoteKeepsItsAddresses(t *testing.T) {
	t.Parallel()
	const (
		mine = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.org/mine\n[remote \"fork\"]\n\turl = https://example.org/fork\n[branch \"main\"]\n\tremote = origin\n"
		none = "[core]\n\tbare = false\n"
		evil = "[remote \"evil\"]\n\turl = https://evil.example/x\n"
	)
	for name, c := range map[string]struct {
		steps []string // contents of the configuration; what they say is accepted
		last  string
		want  []string // what is suspicious of the last one
	}{
		"back as it was":               {[]string{none}, mine, nil},
		"one of those that there were": {[]string{mine + "[remote \"origin\"]\n\turl = https://example.org/second\n", none}, mine, nil},
		"another address":              {[]string{none}, none + "[remote \"origin\"]\n\turl = https://evil.example/x\n", []string{"remote.origin.url"}},
		"a second one":                 {[]string{none}, mine + "[remote \"origin\"]\n\turl = https://evil.example/x\n", []string{"branch.main.remote", "remote.origin.url"}},
		"another remote":               {[]string{none}, mine + evil + "[branch \"main\"]\n\tpushRemote = evil\n", []string{"branch.main.pushremote"}},
		"another one of the user":      {nil, mine + "[branch \"main\"]\n\tpushRemote = fork\n", []string{"branch.main.pushremote"}},
		"the same by another name":     {nil, mine + "[remote \"x\"]\n\turl = https://example.org/mine\n[branch \"main\"]\n\tpushRemote = x\n", nil},
		"a branch without one":         {nil, mine + evil + "[branch \"loose\"]\n\tremote = evil\n", []string{"branch.loose.remote"}},
		"a packed branch":              {nil, mine + evil + "[branch \"packed/a\"]\n\tremote = evil\n", []string{"branch.packed/a.remote"}},
		"a branch gets one of these":   {nil, mine + "[branch \"loose\"]\n\tremote = fork\n", nil},
		"a new branch":                 {nil, mine + evil + "[branch \"new\"]\n\tremote = evil\n", nil},
		"what is missing":              {nil, mine + evil + "[remote \"evil\"]\n\tpromisor = true\n[extensions]\n\tpartialClone = evil\n", []string{"extensions.partialclone", "remote.evil.promisor"}},
		"what is missing, of origin":   {nil, mine + "[remote \"origin\"]\n\tpromisor = true\n[extensions]\n\tpartialClone = origin\n", nil},
	} {
		dir := t.TempDir()
		write(t, dir+"/.git/HEAD", "ref: refs/heads/main\n")
		write(t, dir+"/.git/objects/x", "")
		write(t, dir+"/.git/refs/heads/loose", "1111111111111111111111111111111111111111\n")
		write(t, dir+"/.git/packed-refs", "# pack-refs with: peeled\n1111111111111111111111111111111111111111 refs/heads/packed/a\n1111111111111111111111111111111111111111 refs/tags/t\n")
		write(t, dir+"/.git/config", mine)
		s := mustTake(t, dir)
		for _, text := range c.steps {
			write(t, dir+"/.git/config", text)
			s = mustAgain(t, s)
		}
		write(t, dir+"/.git/config", c.last)
		var got []string
		for _, change := range mustAgain(t, s).Compare(s) {
			_, bad := change.Judge()
			got = append(got, names(bad)...)
			if len(bad) == 0 {
				continue
			}
			if kept, err := gitguard.KeepHarmless(change); err != nil || !slices.Equal(names(kept), names(bad)) {
				t.Errorf("%s: %v, %v", name, kept, err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
		if again := mustAgain(t, s).Compare(s); len(c.want) > 0 && len(again) > 0 {
			if _, bad := again[0].Judge(); len(bad) > 0 {
				t.Errorf("%s: it is still there: %v", name, bad)
			}
		}
	}
}
