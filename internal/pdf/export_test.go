package pdf

import "context"

// TextWithin is Text with fewer steps. It returns the steps that were used, too.
func TextWithin(ctx context.Context, raw []byte, most, steps int) (out string, cut bool, used int, err error) {
	f := &file{data: raw, work: work{ctx: ctx, limit: steps}}
	out, cut, err = read(f, most)
	return out, cut, f.steps, err
}
