// Package picture makes images small enough for services that limit their size.
//
// It reads PNG, JPEG and GIF and writes JPEG. It scales by averaging areas, so
// that small print stays legible. The same picture always gives the same bytes.
// The package does not know where images are sent. Start at Shrink.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // register the formats for image.Decode
	"image/jpeg"
	_ "image/png"
)

// MediaType is the media type of the pictures that Shrink returns.
const MediaType = "image/jpeg"

// maxPixels bounds the decoded size: a small file may hold a huge picture.
const maxPixels = 100_000_000

// ErrTooLarge is returned, wrapped, if a picture cannot be made to fit.
var ErrTooLarge = errors.New("the picture is too large")

// Size returns the width and height of a picture without decoding it. It fails
// for unknown formats.
func Size(data []byte) (width, height int, err error) {
	cfg, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return 0, 0, fmt.Errorf("read picture: %w", err)
	}
	return cfg.Width, cfg.Height, nil
}

// Shrink returns the picture as a JPEG of at most size bytes, whose longer side
// has at most side pixels. Transparent parts become white, and an animation
// becomes its first picture. Shrink fails if it cannot read the format or if
// the picture has more than 100 million pixels.
func Shrink(data []byte, side, size int) ([]byte, error) {
	width, height, err := Size(data)
	if err != nil {
		return nil, err
	}
	if width <= 0 || height <= 0 || width > maxPixels/height {
		return nil, fmt.Errorf("%w: %d by %d pixels", ErrTooLarge, width, height)
	}
	src, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read picture: %w", err)
	}
	for range 12 {
		scaled := scale(src, side)
		for _, quality := range []int{85, 70, 55} {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, scaled, &jpeg.Options{Quality: quality}); err != nil {
				return nil, fmt.Errorf("write picture: %w", err)
			}
			if b.Len() <= size {
				return b.Bytes(), nil
			}
		}
		side = max(1, side*3/4)
	}
	return nil, fmt.Errorf("%w: it does not fit in %d bytes", ErrTooLarge, size)
}

// scale draws the picture on white, with its longer side reduced to side.
func scale(src image.Image, side int) *image.RGBA {
	from := src.Bounds()
	w, h := fit(from.Dx(), from.Dy(), side)
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := span(y, h, from.Dy())
		for x := range w {
			x0, x1 := span(x, w, from.Dx())
			dst.SetRGBA(x, y, average(src, image.Rect(x0, y0, x1, y1).Add(from.Min)))
		}
	}
	return dst
}

func fit(w, h, side int) (int, int) {
	longer := max(w, h)
	if longer <= side {
		return w, h
	}
	return max(1, w*side/longer), max(1, h*side/longer)
}

// span returns the part of a row of n pixels that becomes pixel i of m.
func span(i, m, n int) (from, to int) {
	from = i * n / m
	return from, max(from+1, (i+1)*n/m)
}

// average returns the mean colour of an area, over white.
func average(src image.Image, area image.Rectangle) color.RGBA {
	var r, g, b, n uint64
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			cr, cg, cb, ca := src.At(x, y).RGBA() // multiplied with alpha, up to 0xffff
			white := uint64(0xffff - ca)
			r, g, b, n = r+uint64(cr)+white, g+uint64(cg)+white, b+uint64(cb)+white, n+1
		}
	}
	return color.RGBA{uint8(r / n >> 8), uint8(g / n >> 8), uint8(b / n >> 8), 0xff}
}
