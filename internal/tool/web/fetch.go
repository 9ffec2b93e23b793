package web

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
	"path"
	"strings"

	"hermes/internal/document"
	"hermes/internal/httpc"
	"hermes/internal/netguard"
	"hermes/internal/text"
	"hermes/internal/webpage"
)

const (
	// maxPage bounds a page and the text of anything that is read, in bytes.
	maxPage = 2 << 20
	// maxDocument bounds a PDF file or an office document, in bytes.
	maxDocument = webpage.MaxDocument
)

// page is the text of a page.
type page struct {
	title, text string
	from        string // the address that it came from in the end; "" if a service does not say
	cut         bool   // it is longer than the limit
}

// statusError is an answer of a web server that is no page.
type statusError int

func (e statusError) Error() string {
	return fmt.Sprintf("the server answered %s (%d)", cmp.Or(http.StatusText(int(e)), "with an error"), int(e))
}

// fetch reads a page without any service.
func (t *Toolset) fetch(ctx context.Context, g *netguard.Guard, address string) (page, error) {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout) // for a document, also of turning it into text
	defer cancel()
	client := g.Client(netguard.Limits{Time: t.cfg.Timeout, Bytes: maxDocument + 1, Redirect: httpc.Pages.Check, UserAgent: t.cfg.UserAgent})
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page{}, errors.New("it is not a valid URL")
	}
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/markdown, text/plain, application/pdf, application/json;q=0.9, */*;q=0.1")
	resp, err := client.Do(req)
	if err != nil {
		return page{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return page{}, statusError(resp.StatusCode)
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(resp.Body, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return page{}, err
	}
	head = head[:n]
	kind := resp.Header.Get("Content-Type")
	name := documentName(kind, resp.Request.URL, head)
	limit := maxPage
	if name != "" {
		limit = maxDocument
	}
	raw, err := io.ReadAll(io.LimitReader(io.MultiReader(bytes.NewReader(head), resp.Body), int64(limit)+1))
	if err != nil {
		return page{}, err
	}
	at := *resp.Request.URL
	at.Fragment, at.RawFragment = "", ""
	return t.apart(ctx, func() (page, error) {
		p := page{from: at.String(), cut: len(raw) > limit}
		if name != "" {
			whole, err := documentText(ctx, name, raw, limit)
			p.text, p.cut = text.Prefix(whole, maxPage), p.cut || len(whole) > maxPage
			return p, err
		}
		read, err := webpage.Read(ctx, raw[:min(len(raw), limit)], kind, resp.Request.URL, maxPage)
		p.title, p.text, p.cut = read.Title, read.Text, p.cut || read.Cut
		return p, err
	})
}

// maxReading bounds how many pages are turned into text at the same time, also of calls that have ended.
const maxReading = 8

// apart turns a page into text, and does not wait for that longer than the call may take: a page can be made so
// that it takes long.
func (t *Toolset) apart(ctx context.Context, read func() (page, error)) (page, error) {
	select {
	case t.reading <- struct{}{}:
	case <-ctx.Done():
		return page{}, context.Cause(ctx)
	}
	var p page
	err := errors.New("the page could not be read, by a mistake in the program")
	done := make(chan struct{})
	go func() {
		defer func() { <-t.reading }()
		defer close(done)
		defer func() {
			if fault := recover(); fault != nil {
				err = fmt.Errorf("the page could not be read, by a mistake in the program: %v", fault)
			}
		}()
		p, err = read()
	}()
	select {
	case <-done:
		return p, err
	case <-ctx.Done():
		return page{}, context.Cause(ctx)
	}
}

// documentKinds are the media types of documents, and the names by which package document knows them.
var documentKinds = [...][2]string{
	{"application/pdf", ".pdf"},
	{"application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"},
	{"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"},
	{"application/vnd.openxmlformats-officedocument.presentationml.presentation", ".pptx"},
}

// documentName returns the name by which package document knows a kind of document, "" for a page.
func documentName(contentType string, from *url.URL, head []byte) string {
	kind, _, _ := mime.ParseMediaType(contentType) // an invalid one is unknown
	for _, d := range documentKinds {
		if kind == d[0] {
			return d[1]
		}
	}
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return ".pdf"
	}
	// Some servers do not know office documents, which are ZIP files.
	if end := strings.ToLower(path.Ext(from.Path)); bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		for _, d := range documentKinds[1:] {
			if end == d[1] {
				return end
			}
		}
	}
	return ""
}

// documentText returns the text of a document.
func documentText(ctx context.Context, name string, raw []byte, limit int) (string, error) {
	kind := strings.ToUpper(name[1:])
	read := document.Extractor("page" + name)
	switch {
	case read == nil:
		return "", fmt.Errorf("it is a %s file, which cannot be read; download it with the terminal tool if you need it", kind)
	case len(raw) > limit:
		return "", fmt.Errorf("the %s file has more than %d MB; download it with the terminal tool if you need it", kind, limit>>20)
	}
	out, err := read(ctx, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return "", fmt.Errorf("the %s file %w", kind, err)
	}
	if strings.TrimSpace(out) == "" {
		return "", fmt.Errorf("the %s file has no text", kind)
	}
	return out, nil
}

// why says it as one line that is not long: the page and the service decide what is in it.
func (t *Toolset) why(err error) string { return text.OneLine(t.unread(err).Error(), maxSaid) }

// unread says in words for a model why a page was not read, without repeating its address.
func (t *Toolset) unread(err error) error {
	if no, ok := errors.AsType[*netguard.Refused](err); ok {
		if no.Private {
			return fmt.Errorf("%w; only the user can allow it (security.allow_private_urls)", no)
		}
		return no
	}
	if at, ok := errors.AsType[*url.Error](err); ok {
		if at.Timeout() {
			return fmt.Errorf("no answer within %d seconds", int(t.cfg.Timeout.Seconds()))
		}
		return at.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %d seconds", int(t.cfg.Timeout.Seconds()))
	}
	return err
}
