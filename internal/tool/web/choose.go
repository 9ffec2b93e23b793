package web

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"hermes/internal/websearch"
)

// Own is the name of reading pages without a service, in settings.
const Own = "local"

// Choice says which services are used.
type Choice struct {
	// Search and Extract are the names of the services that the user chose; "" chooses by what is set.
	Search, Extract string
	// SearchSetting and ExtractSetting are the settings that have these names, for errors; "" is
	// web.search_backend and web.extract_backend.
	SearchSetting, ExtractSetting string
	// Services are all that there are, in the order in which they are chosen, with the keys and addresses
	// that are set.
	Services []websearch.Service
	// Keyless searches with services that need no key if no other is set, Rescue if the others fail.
	Keyless, Rescue bool
}

// ready reports whether a service has what it needs.
func ready(s websearch.Service) bool { return s.Missing() == "" }

// chosen returns the service to search with that the user named, or an error that says what to do.
func (c Choice) chosen() (websearch.Service, error) {
	setting := cmp.Or(c.SearchSetting, "web.search_backend")
	b, ok := websearch.Find(c.Search)
	if !ok {
		return websearch.Service{}, fmt.Errorf("%s is %q, which is not known; the user can choose one of %s", setting, c.Search, names(false))
	}
	return c.find(b, setting)
}

// names lists the services, or those that read pages, for a user who chooses.
func names(pages bool) string {
	var list []string
	for _, b := range websearch.Backends() {
		if !pages || b.Extracts() {
			list = append(list, b.Name)
		}
	}
	if pages {
		list = append(list, Own)
	}
	return strings.Join(list, ", ")
}

// find returns a service with what it needs, or an error that says what to do.
func (c Choice) find(b websearch.Backend, setting string) (websearch.Service, error) {
	for _, s := range c.Services {
		if s.Name != b.Name {
			continue
		}
		if missing := s.Missing(); missing != "" {
			return s, fmt.Errorf("%s is %s, but %s is not set; the user can put it into .env", setting, b.Name, missing)
		}
		return s, nil
	}
	return websearch.Service{}, fmt.Errorf("%s is %s, which cannot be used", setting, b.Name)
}

// keyless are the services that need nothing.
func (c Choice) keyless() (list []websearch.Service) {
	for _, s := range c.Services {
		if s.Keyless() {
			list = append(list, s)
		}
	}
	return list
}

// untilOwn cuts a list of services after the first if that is a server of the user: what is meant for it goes
// nowhere else.
func untilOwn(list []websearch.Service) []websearch.Service {
	if len(list) > 0 && list[0].At != "" {
		return list[:1]
	}
	return list
}

// searchers lists the services to search with, in order.
func (c Choice) searchers() []websearch.Service {
	var list []websearch.Service
	if c.Search != "" {
		s, err := c.chosen()
		if err != nil {
			return nil
		}
		list = append(list, s)
	} else {
		for _, s := range c.Services {
			if !s.Keyless() && ready(s) {
				list = append(list, s)
			}
		}
	}
	switch {
	case len(list) == 0 && c.Keyless, len(list) > 0 && c.Rescue && !list[0].Keyless():
		list = append(list, c.keyless()...)
	}
	return untilOwn(list)
}

// searchFault says why there is no service to search with.
func (c Choice) searchFault() error {
	if c.Search != "" {
		if _, err := c.chosen(); err != nil {
			return err
		}
	}
	return errors.New("no search service is set up; the user can set a key such as TAVILY_API_KEY, or SEARXNG_URL, or turn on web.keyless_fallback")
}

// readers returns the service that reads pages before this program does, if the user chose one, and those
// that are asked after it.
func (c Choice) readers() (first *websearch.Service, after []websearch.Service, err error) {
	if IsOwn(c.Extract) {
		return nil, nil, nil
	}
	if c.Extract != "" {
		setting := cmp.Or(c.ExtractSetting, "web.extract_backend")
		b, known := websearch.Find(c.Extract)
		switch {
		case !known:
			return nil, nil, fmt.Errorf("%s is %q, which is not known; the user can choose one of %s", setting, c.Extract, names(true))
		case !b.Extracts():
			return nil, nil, fmt.Errorf("%s is %s, which does not read pages; the user can choose one of %s", setting, b.Name, names(true))
		}
		s, err := c.find(b, setting)
		if err != nil {
			return nil, nil, err
		}
		return &s, nil, nil
	}
	for _, s := range c.Services {
		if s.Extracts() && ready(s) {
			after = append(after, s)
		}
	}
	return nil, untilOwn(after), nil
}

// IsOwn reports whether a name in the settings means reading pages without a service.
func IsOwn(name string) bool { return strings.EqualFold(strings.TrimSpace(name), Own) }

// Describe says in words which services are used for searches and for pages, and what is wrong with
// the choice.
func (c Choice) Describe() (search, pages string, err error) {
	var names []string
	for _, s := range c.searchers() {
		names = append(names, s.Title)
	}
	if search = strings.Join(names, ", then "); search == "" {
		err = c.searchFault()
	}
	first, after, fault := c.readers()
	names = nil
	if first != nil {
		names = append(names, first.Title)
	}
	names = append(names, "Hermes")
	for _, s := range after {
		names = append(names, s.Title)
	}
	return search, strings.Join(names, ", then "), errors.Join(err, fault)
}

// restTime is how long a service is left out that refuses the key or whose quota is used up.
const restTime = 10 * time.Minute

// resting remembers which services do not answer for a while, so that not every search waits for them.
type resting struct {
	now func() time.Time

	mu    sync.Mutex
	until map[string]rest // by name: at most one for each service
}

type rest struct {
	until time.Time
	err   error
}

// note remembers a failure that will repeat itself.
func (r *resting) note(service string, err error) {
	e, ok := errors.AsType[*websearch.Error](err)
	if !ok {
		return
	}
	wait := time.Duration(0)
	switch e.Class {
	case websearch.BadKey, websearch.Quota:
		wait = restTime
	case websearch.RateLimit:
		wait = max(e.After, time.Second)
	}
	if wait == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until[service] = rest{r.now().Add(min(wait, restTime)), err}
}

// why returns why a service is not asked now, nil if it is.
func (r *resting) why(service string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rest := r.until[service]; r.now().Before(rest.until) {
		return rest.err
	}
	return nil
}
