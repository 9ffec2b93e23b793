//go:build unix

package redact

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// needles are the beginnings that the rules look for, none of which is in a text as it
// is here.
func needles() [][]byte {
	var out [][]byte
	for _, f := range prefixes {
		out = append(out, []byte(f.text+"\x00"))
	}
	for _, s := range encodedStems {
		out = append(out, []byte(s.text+"\x00"))
	}
	for _, word := range []string{"pass", "pwd", "secret", "token", "key", "cred", "auth", "cookie", "bearer", "eyJ", "://", "-----BEGIN", "machine", "echo"} {
		out = append(out, []byte(word+"\x00"))
	}
	return out
}

// cost returns the processor time of one run, so that other work on the machine does
// not count. It is the least of three measurements, each of at least 20 ms.
func cost(f func()) time.Duration {
	const enough = 20 * time.Millisecond
	best := time.Duration(1 << 62)
	for range 3 {
		runs, began := 0, processorTime()
		for processorTime()-began < enough {
			f()
			runs++
		}
		best = min(best, (processorTime()-began)/time.Duration(runs))
	}
	return best
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// look reads each byte once through a table: less cannot be done without instructions
// for many bytes at a time, which bytes.Index has and Go code has not.
func look(text string) (n int) {
	for i := range len(text) {
		n += int(class[text[i]])
	}
	return n
}

// BenchmarkAgainstIndex prints how masking compares with bytes.Index over the same
// text in the same run, in two readings: one search for a key that is not there, and
// one search for each stem that the rules know. The last figure is what a single look at
// each byte costs, compared with the first.
func BenchmarkAgainstIndex(b *testing.B) {
	r := New(Options{Known: knownForTests})
	needle := []byte("sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4xY7z")
	for range b.N {
		var literal, naive, least []float64
		for _, name := range slices.Sorted(maps.Keys(hostile)) {
			text := strings.Repeat(hostile[name], 1<<20/len(hostile[name]))
			raw := []byte(text)
			took := cost(func() { r.Text(text) })
			one := cost(func() { bytes.Index(raw, needle) })
			looked := cost(func() { look(text) })
			all := cost(func() {
				for _, s := range needles() {
					bytes.Index(raw, s)
				}
			})
			literal, naive = append(literal, float64(took)/float64(one)), append(naive, float64(took)/float64(all))
			least = append(least, float64(looked)/float64(one))
			fmt.Printf("%-24s %8.2f ms, %6.1f MB/s, %6.1f times one Index, %5.2f times an Index for each stem; a look at each byte %5.1f times one Index\n",
				name, took.Seconds()*1e3, float64(len(text))/1e6/took.Seconds(), literal[len(literal)-1], naive[len(naive)-1], least[len(least)-1])
		}
		slices.Sort(literal)
		slices.Sort(naive)
		slices.Sort(least)
		b.ReportMetric(literal[len(literal)/2], "median/index")
		b.ReportMetric(literal[len(literal)-1], "worst/index")
		b.ReportMetric(least[len(least)/2], "median-look/index")
		b.ReportMetric(naive[len(naive)/2], "median/stems")
		b.ReportMetric(naive[len(naive)-1], "worst/stems")
	}
}
