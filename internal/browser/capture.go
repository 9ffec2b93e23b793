package browser

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Bounds of what is read of a page.
const (
	maxSide   = 8_000 // of a picture of a whole page, in pixels: models refuse larger ones
	maxPDF    = 50 << 20
	maxResult = 50_000 // bytes of the result of a script
)

// Screenshot returns a picture of the viewport, or of the whole page down to 8,000 pixels, as
// PNG.
func (p *Page) Screenshot(ctx context.Context, whole bool) ([]byte, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	return p.screenshot(ctx, whole)
}

func (p *Page) screenshot(ctx context.Context, whole bool) ([]byte, error) {
	params := fields{"format": "png"}
	if whole {
		var m struct {
			Size struct{ Width, Height float64 } `json:"cssContentSize"`
		}
		if err := p.call(ctx, p.main, "Page.getLayoutMetrics", nil, &m); err != nil {
			return nil, err
		}
		params["captureBeyondViewport"] = true
		params["clip"] = fields{"x": 0, "y": 0, "scale": 1, "width": max(1, min(m.Size.Width, maxSide)), "height": max(1, min(m.Size.Height, maxSide))}
	}
	var answer struct{ Data []byte }
	if err := p.call(ctx, p.main, "Page.captureScreenshot", params, &answer); err != nil {
		return nil, err
	}
	return answer.Data, nil
}

// PDF returns the page as it is printed. Only a browser without windows may be able to.
func (p *Page) PDF(ctx context.Context) ([]byte, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	var answer struct{ Stream string }
	err := p.call(ctx, p.main, "Page.printToPDF", fields{"printBackground": true, "transferMode": "ReturnAsStream"}, &answer)
	if err != nil {
		return nil, err
	}
	defer p.b.conn.Post(p.b.life, p.main, "IO.close", fields{"handle": answer.Stream})
	var pdf []byte
	for {
		var part struct {
			Data   string
			Base64 bool `json:"base64Encoded"`
			EOF    bool
		}
		if err := p.call(ctx, p.main, "IO.read", fields{"handle": answer.Stream, "size": 1 << 20}, &part); err != nil {
			return nil, err
		}
		raw := []byte(part.Data)
		if part.Base64 {
			if raw, err = base64.StdEncoding.DecodeString(part.Data); err != nil {
				return nil, err
			}
		}
		if pdf = append(pdf, raw...); len(pdf) > maxPDF {
			return nil, fmt.Errorf("the PDF is larger than %d MB", maxPDF>>20)
		}
		if part.EOF {
			return pdf, nil
		}
	}
}

// Image is a picture on a page.
type Image struct {
	URL           string
	Text          string // its alternative text
	Width, Height int
	Shown         bool
}

// Images lists pictures of the page and of its frames.
func (p *Page) Images(ctx context.Context) ([]Image, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	p.mu.Lock()
	list := p.inOrder()
	p.mu.Unlock()
	var all []Image
	for i, f := range list[:min(len(list), maxFrames)] {
		var some []Image
		if err := p.inWorld(ctx, f.id, imagesScript, &some); err != nil {
			if i == 0 || !errors.Is(err, errNoFrame) {
				return nil, err
			}
			continue
		}
		for _, m := range some {
			m.URL, m.Text = clean(m.URL, maxURL), clean(m.Text, maxName)
			all = append(all, m)
		}
	}
	return all, nil
}

// ScriptError is what a script threw.
type ScriptError struct{ Text string }

func (e *ScriptError) Error() string { return "the script failed: " + e.Text }

// Evaluate runs a script in the page, with the page's own rights, waits for a promise, and
// returns the result as JSON, cut to 50,000 bytes. The caller decides whether that is allowed.
func (p *Page) Evaluate(ctx context.Context, script string) (result string, err error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	var v evaluated
	out, err := p.act(ctx, func(ctx context.Context) error {
		err := p.call(ctx, p.main, "Runtime.evaluate", fields{
			"expression": script, "awaitPromise": true, "userGesture": true, "replMode": true,
		}, &v)
		if object := v.Result.ObjectID; err == nil && v.Exception == nil && object != "" { // awaitPromise is for await alone there
			v = evaluated{}
			err = p.call(ctx, p.main, "Runtime.callFunctionOn", fields{
				"functionDeclaration": "async function() { return await this }", "objectId": object, "returnByValue": true, "awaitPromise": true, "userGesture": true,
			}, &v)
			p.b.conn.Post(p.b.life, p.main, "Runtime.releaseObject", fields{"objectId": object})
		}
		if err == nil && v.Exception != nil {
			err = &ScriptError{v.Exception.text()}
		}
		return err
	})
	switch {
	case err != nil:
		return "", err
	case out.Dialog != nil && out.Dialog.Answer == "":
		return "", &DialogError{*out.Dialog}
	case len(v.Result.Value) > 0:
		result = string(v.Result.Value)
	case v.Result.Unserial != "":
		result = v.Result.Unserial
	default:
		result = cmp.Or(v.Result.Description, v.Result.Subtype, v.Result.Type)
	}
	if len(result) > maxResult {
		result = strings.ToValidUTF8(result[:maxResult], "") + "…"
	}
	return result, nil
}

// Raw calls a method of the protocol on the tab, or on one of its frames, for what has no method here: it reaches
// the process of the frame. The caller decides which are allowed.
func (p *Page) Raw(ctx context.Context, frame, method string, params json.RawMessage) (json.RawMessage, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	session := p.main
	if frame != "" {
		crashed := false
		p.mu.Lock()
		if f := p.frames[frame]; f != nil {
			session, crashed = f.session, f.crashed
		} else {
			session = ""
		}
		p.mu.Unlock()
		switch {
		case crashed:
			return nil, errFrameCrashed
		case session == "":
			return nil, errFrameID
		}
	}
	var result json.RawMessage
	var given any
	if len(params) > 0 {
		given = params
	}
	err := p.call(ctx, session, method, given, &result)
	return result, err
}
