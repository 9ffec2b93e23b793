package browser

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strconv"
	"sync"
)

// mostLabels bounds the refs that are drawn on a picture.
const mostLabels = 300

// Annotated returns a picture of the viewport with the number of its ref beside each element that
// can be used, and these refs. The page itself is not changed.
func (p *Page) Annotated(ctx context.Context) (picture []byte, refs []string, err error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	lines, _, _, err := p.outline(ctx, nodeID{})
	if err != nil {
		return nil, nil, err
	}
	raw, err := p.screenshot(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	decoded, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, nil, err
	}
	canvas := image.NewRGBA(decoded.Bounds())
	draw.Draw(canvas, canvas.Bounds(), decoded, decoded.Bounds().Min, draw.Src)
	var numbers []int
	for i := range lines {
		if lines[i].ref != 0 {
			numbers = append(numbers, lines[i].ref)
		}
	}
	for i, box := range p.boxes(ctx, numbers) {
		if len(refs) < mostLabels && box.Overlaps(canvas.Bounds()) {
			label(canvas, box, strconv.Itoa(numbers[i]))
			refs = append(refs, refName(numbers[i]))
		}
	}
	var out bytes.Buffer
	err = png.Encode(&out, canvas)
	return out.Bytes(), refs, err
}

// boxes returns the place of each element in the viewport; empty if it has none.
func (p *Page) boxes(ctx context.Context, refs []int) []image.Rectangle {
	const atOnce = 16
	found := make([]image.Rectangle, len(refs))
	next := make(chan int, len(refs))
	for i := range refs {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := range next {
				if id, err := p.find(refName(refs[i])); err == nil {
					found[i] = p.box(ctx, id)
				}
			}
		})
	}
	all.Wait()
	return found
}

func (p *Page) box(ctx context.Context, id nodeID) image.Rectangle {
	p.mu.Lock()
	f := p.frames[id.frame]
	if f == nil {
		p.mu.Unlock()
		return image.Rectangle{}
	}
	at := *f
	p.mu.Unlock()
	var answer struct{ Quads [][]float64 }
	if p.call(ctx, at.session, "DOM.getContentQuads", fields{"backendNodeId": id.node}, &answer) != nil || len(answer.Quads) == 0 {
		return image.Rectangle{}
	}
	return bounds(answer.Quads[0]).Add(p.offset(ctx, at))
}

// offset is where the process of a frame begins to draw, in the tab: places within one process
// are told from there.
func (p *Page) offset(ctx context.Context, at frame) image.Point {
	var sum image.Point
	for at.id != p.target {
		p.mu.Lock()
		above := p.frames[at.parent]
		if above == nil {
			p.mu.Unlock()
			return sum
		}
		parent := *above
		p.mu.Unlock()
		if parent.session != at.session {
			var answer struct{ Model struct{ Content []float64 } }
			owner := p.owner(ctx, at)
			if p.call(ctx, parent.session, "DOM.getBoxModel", fields{"backendNodeId": owner}, &answer) != nil {
				return sum
			}
			sum = sum.Add(bounds(answer.Model.Content).Min)
		}
		at = parent
	}
	return sum
}

// bounds returns the box round four corners.
func bounds(quad []float64) image.Rectangle {
	if len(quad) != 8 {
		return image.Rectangle{}
	}
	r := image.Rectangle{Min: image.Pt(int(quad[0]), int(quad[1])), Max: image.Pt(int(quad[0]), int(quad[1]))}
	for i := 2; i < 8; i += 2 {
		x, y := int(quad[i]), int(quad[i+1])
		r.Min.X, r.Min.Y, r.Max.X, r.Max.Y = min(r.Min.X, x), min(r.Min.Y, y), max(r.Max.X, x), max(r.Max.Y, y)
	}
	return r
}

// glyphs are 3 by 5 points each, a row after the other.
var glyphs = map[rune]string{
	'0': "111101101101111", '1': "010110010010111", '2': "111001111100111", '3': "111001111001111", '4': "101101111001001",
	'5': "111100111001111", '6': "111100111101111", '7': "111001001001001", '8': "111101111101111", '9': "111101111001111",
}

// label draws a frame round a box, and a text at its upper left corner.
func label(canvas *image.RGBA, box image.Rectangle, text string) {
	const dot, line = 3, 2
	ink, paper := image.NewUniform(color.White), image.NewUniform(color.RGBA{200, 0, 90, 255})
	fill := func(r image.Rectangle, c image.Image) { draw.Draw(canvas, r, c, image.Point{}, draw.Src) }
	fill(image.Rect(box.Min.X, box.Min.Y, box.Max.X, box.Min.Y+line), paper)
	fill(image.Rect(box.Min.X, box.Max.Y-line, box.Max.X, box.Max.Y), paper)
	fill(image.Rect(box.Min.X, box.Min.Y, box.Min.X+line, box.Max.Y), paper)
	fill(image.Rect(box.Max.X-line, box.Min.Y, box.Max.X, box.Max.Y), paper)
	at := image.Pt(max(box.Min.X, 0), max(box.Min.Y-7*dot, 0))
	fill(image.Rect(at.X, at.Y, at.X+(4*len(text)+1)*dot, at.Y+7*dot), paper)
	for i, r := range text {
		for j, on := range glyphs[r] {
			if on == '1' {
				x, y := at.X+(1+4*i+j%3)*dot, at.Y+(1+j/3)*dot
				fill(image.Rect(x, y, x+dot, y+dot), ink)
			}
		}
	}
}
