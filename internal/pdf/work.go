package pdf

import "context"

// Bounds of what is read.
const (
	maxObjects   = 500_000
	maxStream    = 32 << 20  // bytes of one stream, unpacked
	maxDecoded   = 160 << 20 // bytes of all streams together
	maxSteps     = 20_000_000
	maxPages     = 5_000
	maxKept      = 4_000_000 // items of lists and dictionaries
	maxKeptBytes = 96 << 20  // bytes of the objects that are kept
	maxText      = 32 << 20  // bytes of text, also of what is invisible
	maxLine      = 16 << 10  // bytes of a line; a longer one is broken
	maxFontItems = 2_000_000 // widths and codes of the fonts that are kept
)

// work counts what a file makes the reader do, so that a small file can neither keep it busy nor fill
// the memory. Whatever grows with the file is counted before it is done.
type work struct {
	ctx         context.Context
	limit       int // of steps
	steps       int
	decoded     int
	items, kept int  // in the objects that are kept, and their bytes
	text        int  // bytes
	cut         bool // a bound left something out
	done        bool // no more may be done
}

// spend counts steps, and reports whether there may be more. A step is about a tenth of a microsecond.
func (w *work) spend(n int) bool {
	before := w.steps
	w.steps += n
	if w.steps >= w.limit || w.steps>>12 != before>>12 && w.ctx.Err() != nil {
		w.done, w.cut = true, true
	}
	return !w.done
}

func (w *work) tick() bool { return w.spend(1) }

// bytes counts bytes that are read once.
func (w *work) bytes(n int) bool { return w.spend(1 + n>>5) }

// over notes that something is left out if a bound is met.
func (w *work) over(met bool) bool {
	w.cut = w.cut || met
	return met
}
