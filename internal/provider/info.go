package provider

import (
	"cmp"
	"sync/atomic"

	"hermes"
	"hermes/internal/modelinfo"
	"hermes/internal/serverinfo"
)

// Info returns what is known about a model: the user's settings, else what its
// server reported when it last listed its models or refused a request as too
// long, else the built-in snapshot.
// Unknown values are zero, an unknown price is nil. The snapshot's limits are not
// used for the user's own servers, which set their own. Info does no network I/O.
func (c *Catalogue) Info(ref string) hermes.ModelInfo {
	k, ok := c.quietly(ref)
	if !ok {
		return serverinfo.Complete("", ref, hermes.ModelInfo{ID: ref})
	}
	edition := c.learned.Edition()
	if have := k.info.Load(); have != nil && have.edition == edition {
		return have.ModelInfo
	}
	info := c.infoOf(k.choice)
	k.info.Store(&editedInfo{info, edition})
	return info
}

// known is a reference that was resolved, with what was last returned about its model.
type known struct {
	choice
	info atomic.Pointer[editedInfo]
}

// editedInfo is what is known about a model at an edition of the book.
type editedInfo struct {
	hermes.ModelInfo
	edition int64
}

// infoOf is Info for a choice.
func (c *Catalogue) infoOf(ch choice) hermes.ModelInfo {
	info, known := c.saidByPlugin(ch)
	if !known {
		info = c.saidByService(ch)
	}
	if n := c.learned.Guess(ch.BaseURL, ch.model); n > 0 && (info.ContextLength == 0 || n < info.ContextLength) {
		info.ContextLength = n
	}
	info.ContextLength = cmp.Or(c.window(ch), info.ContextLength)
	info.Vision = info.Vision || ch.custom.Models[ch.model].Vision
	return info
}

// saidByService is what a service said of its model, and what else is known of it.
func (c *Catalogue) saidByService(ch choice) hermes.ModelInfo {
	info, _ := c.learned.Of(ch.BaseURL, ch.model)
	info.ID = ch.ref()
	service, local := ch.Name, isLocal(ch.BaseURL)
	if like, known := c.rowByHost(ch.BaseURL); known {
		service = like.Name
	} else if ch.id != ch.Name {
		service = ch.id // the user's own service has its own prices
	}
	known := serverinfo.Complete(service, ch.model, info)
	if local {
		known.ContextLength, known.OutputLimit = info.ContextLength, info.OutputLimit
		known.Price = c.localPrice(ch, known.Price)
	}
	return known
}

// localPrice is zero for a model on the user's own server. A paid service behind
// a local address keeps its price. A closed model must come through a proxy,
// whose price is unknown.
func (c *Catalogue) localPrice(ch choice, known *hermes.Price) *hermes.Price {
	if row, ok := c.row(ch.id); ok && !row.NoKey {
		return known
	}
	if modelinfo.Closed(ch.model) {
		return nil
	}
	return &hermes.Price{}
}

// Window is the context length of a model in tokens, 0 if unknown.
func (c *Catalogue) Window(ref string) int { return c.Info(ref).ContextLength }

// OnOwnServer reports whether the server of a model is on this machine or in its
// network.
func (c *Catalogue) OnOwnServer(ref string) bool {
	k, ok := c.quietly(ref)
	return ok && isLocal(k.BaseURL)
}

// quietly resolves a reference without asking any server. What was found is kept: each
// request asks several times.
func (c *Catalogue) quietly(ref string) (*known, bool) {
	if k, ok := c.known.Load(ref); ok {
		return k.(*known), true
	}
	ch, _, err := c.placed(ref)
	if err != nil || ch.id == "" {
		return nil, false
	}
	k, _ := c.known.LoadOrStore(ref, &known{choice: ch})
	return k.(*known), true
}
