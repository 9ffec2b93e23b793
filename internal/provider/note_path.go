package provider

import (
	"errors"
	"net/http"
	"strings"

	"hermes"
	"hermes/internal/chain"
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
	path := strings.TrimPrefix(w.BaseURL, strings.TrimRight(ch.BaseURL, "/"))
	return chain.Watch(func(_ *hermes.Request, d hermes.Delta, err error) {
		switch {
		case err != nil && nothingThere(err):
			c.learned.Gone(ch.BaseURL, path)
		case err == nil && chain.HasContent(d):
			c.learned.Answered(ch.BaseURL, path)
		}
	})(m)
}

// nothingThere reports that an address has no API.
func nothingThere(err error) bool {
	if errors.Is(err, fault.ErrNotAPI) {
		return true
	}
	e, ok := errors.AsType[*hermes.ModelError](err)
	return ok && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) && e.Class != hermes.ClassModelNotFound
}
