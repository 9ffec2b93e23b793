package picture_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"

	"hermes/internal/picture"
)

// noise is a picture that compresses badly.
func noise(w, h int) image.Image {
	rnd := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(3, 5, w+3, h+5))
	for i := range img.Pix {
		img.Pix[i] = byte(rnd.Uint32())
	}
	return img
}

func mustPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestShrinkFits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		w, h, side, size int
		wantW, wantH     int // 0: whatever fits
	}{
		{400, 200, 100, 1 << 20, 100, 50},
		{200, 400, 100, 1 << 20, 50, 100},
		{40, 20, 100, 1 << 20, 40, 20},    // never larger
		{4000, 1, 1000, 1 << 20, 1000, 1}, // never nothing
		{400, 400, 400, 20_000, 0, 0},     // until it fits
	}
	for _, tt := range tests {
		data := mustPNG(t, noise(tt.w, tt.h))
		got, err := picture.Shrink(data, tt.side, tt.size)
		if err != nil || len(got) > tt.size {
			t.Errorf("%+v: %d bytes, %v", tt, len(got), err)
			continue
		}
		cfg, err := jpeg.DecodeConfig(bytes.NewReader(got))
		if err != nil || tt.wantW > 0 && (cfg.Width != tt.wantW || cfg.Height != tt.wantH) {
			t.Errorf("%+v: %+v, %v", tt, cfg, err)
		}
		again, _ := picture.Shrink(data, tt.side, tt.size)
		if !bytes.Equal(got, again) {
			t.Errorf("%+v: not the same bytes again", tt)
		}
	}
}

func TestTransparencyBecomesWhite(t *testing.T) {
	t.Parallel()
	img := image.NewPaletted(image.Rect(0, 0, 16, 16), color.Palette{color.Transparent, color.Black})
	var b bytes.Buffer
	if err := gif.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	got, err := picture.Shrink(b.Bytes(), 8, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	out, err := jpeg.Decode(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if r, _, _, _ := out.At(4, 4).RGBA(); r>>8 < 250 {
		t.Errorf("red is %d", r>>8)
	}
}

func TestShrinkRefuses(t *testing.T) {
	t.Parallel()
	bomb := mustPNG(t, image.NewGray(image.Rect(0, 0, 2, 2)))
	copy(bomb[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // says that it is 65536 by 65536
	if _, err := picture.Shrink(bomb, 100, 1<<20); err == nil {
		t.Error("a bomb was unpacked")
	}
	if _, err := picture.Shrink([]byte("RIFF....WEBP"), 100, 1<<20); err == nil {
		t.Error("an unknown format was read")
	}
	if _, err := picture.Shrink(mustPNG(t, noise(200, 200)), 200, 10); !errors.Is(err, picture.ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
}
