package webpage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"hermes/internal/pdf"
)

// NotTextError is the error for what is no kind of text.
type NotTextError struct{ Kind string } // media type; empty if the content is not what the server says

// Error names the kind.
func (e *NotTextError) Error() string {
	if e.Kind == "" {
		return "it is not text"
	}
	return "it is " + e.Kind + ", not text"
}

// Fetch requests a page and converts it to text. The client decides which addresses and
// redirects are allowed. At most limit bytes are read, of a PDF file MaxDocument, and the text has at most
// limit bytes.
func Fetch(ctx context.Context, client *http.Client, address string, limit int) (Page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return Page{}, err
	}
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/markdown, text/plain, application/json;q=0.9, application/pdf;q=0.8, */*;q=0.1")
	resp, err := client.Do(req)
	if err != nil {
		return Page{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Page{}, fmt.Errorf("the server answered %s (%d)", cmp.Or(http.StatusText(resp.StatusCode), "with an error"), resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, int64(limit)+1))
	if err != nil {
		return Page{}, err
	}
	kind := resp.Header.Get("Content-Type")
	if len(raw) > limit && isPDF(raw, kind) { // a part of it would be damaged
		rest, err := io.ReadAll(io.LimitReader(resp.Body, int64(max(MaxDocument+1-len(raw), 0))))
		if err != nil {
			return Page{}, err
		}
		if raw = append(raw, rest...); len(raw) > MaxDocument {
			return Page{}, fmt.Errorf("it is a PDF file with more than %d MB: download it and attach the file", MaxDocument>>20)
		}
		return document(ctx, raw, limit)
	}
	p, err := Read(ctx, raw[:min(len(raw), limit)], kind, resp.Request.URL, limit)
	p.Cut = p.Cut || len(raw) > limit
	return p, err
}

// MaxDocument bounds a PDF file that is fetched, in bytes.
const MaxDocument = 16 << 20

func isPDF(raw []byte, contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType) // an invalid one is unknown
	return kind == "application/pdf" || kind == "application/x-pdf" || bytes.HasPrefix(raw, []byte("%PDF-"))
}

// Read converts the body of an answer to text of at most limit bytes. It fails with a
// *NotTextError if the content is no kind of text. from is the page's URL; it may be nil. Reading
// a PDF file stops soon after ctx ends.
func Read(ctx context.Context, raw []byte, contentType string, from *url.URL, limit int) (Page, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind == "application/octet-stream" {
		contentType = http.DetectContentType(raw)
		kind, _, _ = mime.ParseMediaType(contentType) // the detector writes well-formed types
	}
	if isPDF(raw, contentType) {
		return document(ctx, raw, limit)
	}
	if !textual(kind) {
		return Page{}, &NotTextError{kind}
	}
	p := Page{Text: Decode(raw, contentType)}
	if strings.Contains(p.Text, "\x00") {
		return Page{}, &NotTextError{}
	}
	if kind == "text/html" || kind == "application/xhtml+xml" {
		source := p.Text
		p = Convert(source, from, limit)
		if p.Problem != "" {
			return p, errors.New("it " + p.Problem)
		}
		if strings.TrimSpace(p.Text) == "" && strings.Contains(strings.ToLower(source), "<script") {
			return p, errors.New("it has no text without its scripts: open it in a browser")
		}
	}
	if strings.TrimSpace(p.Text) == "" {
		return p, errors.New("it has no text")
	}
	return p, nil
}

// document returns the text of a PDF file.
func document(ctx context.Context, raw []byte, limit int) (Page, error) {
	text, cut, err := pdf.Text(ctx, raw, limit)
	if err != nil {
		return Page{}, fmt.Errorf("it %w", err)
	}
	return Page{Text: strings.TrimSpace(text), Cut: cut}, nil
}

// textual reports whether a media type is readable text.
func textual(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/yaml", "application/x-yaml",
		"application/toml", "application/x-ndjson", "application/jsonl", "application/sql", "application/x-sh", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") && !strings.HasPrefix(kind, "image/")
}
