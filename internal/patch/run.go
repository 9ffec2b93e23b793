package patch

// maxSpans bounds the matches that are kept of one search. More are counted.
const maxSpans = 1 << 17

// matches are the passages that a strategy found, in order, without overlaps.
type matches struct {
	spans []span // the first ones
	count int
}

func (m *matches) add(s span) {
	m.count++
	if len(m.spans) < maxSpans {
		m.spans = append(m.spans, s)
	}
}

// A run finds a list of units in a stream of units, in time that grows with
// the stream only (Knuth, Morris and Pratt).
type run[W comparable, U any] struct {
	want []W
	same func(W, U) bool
	back []int32 // for each prefix of want, its longest border
	at   int     // units of want that the stream ends with
}

func newRun[W comparable, U any](want []W, same func(W, U) bool) *run[W, U] {
	r := &run[W, U]{want: want, same: same, back: make([]int32, len(want))}
	at := 0
	for i := 1; i < len(want); i++ {
		for at > 0 && want[i] != want[at] {
			at = int(r.back[at-1])
		}
		if want[i] == want[at] {
			at++
		}
		r.back[i] = int32(at)
	}
	return r
}

// next takes a unit of the stream and reports whether the stream now ends with
// the whole list.
func (r *run[W, U]) next(u U) bool {
	if r.at == len(r.want) && r.at > 0 {
		r.at = int(r.back[r.at-1])
	}
	for r.at > 0 && !r.same(r.want[r.at], u) {
		r.at = int(r.back[r.at-1])
	}
	if r.at < len(r.want) && r.same(r.want[r.at], u) {
		r.at++
	}
	return r.done()
}

// done reports whether the stream ends with the whole list.
func (r *run[W, U]) done() bool { return r.at == len(r.want) }

// restart forgets the stream, so that matches do not overlap.
func (r *run[W, U]) restart() { r.at = 0 }
