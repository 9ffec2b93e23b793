package provider

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/serverinfo"
	"hermes/internal/transport/base"
)

// noted returns a transport that notes whether the API of a server is at the path that
// the transport asks.
func (c *Catalogue) noted(ch choice, w base.Config, m hermes.Model) hermes.Model {
	if !serverinfo.HasPath(ch.BaseURL) {
		return m
	}
	return &pathNoter{m, c.learned, ch.BaseURL, strings.TrimPrefix(w.BaseURL, strings.TrimRight(ch.BaseURL, "/"))}
}

type pathNoter struct {
	hermes.Model
	book          *serverinfo.Book
	address, path string
}

func (m *pathNoter) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, r) {
			switch {
			case err != nil && nothingThere(err):
				m.book.Gone(m.address, m.path)
			case err == nil && hasContent(d):
				m.book.Answered(m.address, m.path)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// nothingThere reports that an address has no API.
func nothingThere(err error) bool {
	if errors.Is(err, fault.ErrNotAPI) {
		return true
	}
	e, ok := errors.AsType[*hermes.ModelError](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) && e.Class != hermes.ClassModelNotFound
}
