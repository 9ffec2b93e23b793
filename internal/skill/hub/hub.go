// Package hub finds and fetches skills in public places: GitHub repositories,
// ClawHub, skills.sh, sites with a well-known index, LobeHub, Claude
// marketplaces, single addresses and local folders. Each place is a file with
// one type.
//
// What comes back is a set of files and where they came from. The package
// judges nothing and installs nothing: that is the library's matter, and
// nothing fetched here is used before it was looked at. Start at New; Resolve
// tells how an identifier finds its place.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"hermes"
	"hermes/internal/skill/guard"
)

// Listing is a skill in a search.
type Listing struct {
	Name        string
	Description string
	Source      string // the place: github, clawhub, …
	Identifier  string // what Fetch understands
	Trust       guard.Trust
	Popularity  int64 // installs or downloads, 0 if unknown
}

// Package is a skill with all its files.
type Package struct {
	Source, Identifier, Version string
	Trust                       guard.Trust
	Files                       []guard.File
}

// Bases are the addresses of the places; an empty one is the public one.
type Bases struct{ GitHub, Raw, ClawHub, SkillsSh, LobeHub string }

// Config is what the places are asked with.
type Config struct {
	Client *http.Client
	Bases  Bases
	// Token is a GitHub token; empty asks without, 60 times an hour.
	Token hermes.Secret
	// Taps are repositories (owner/name) that are searched on GitHub, and
	// Marketplaces those that hold a Claude marketplace. Sites have a
	// well-known index.
	Taps, Marketplaces, Sites []string
}

// registry is one public place.
type registry interface {
	name() string
	search(ctx context.Context, query string, limit int) ([]Listing, error)
	// fetch takes the identifier without the place's prefix.
	fetch(ctx context.Context, id string) (Package, error)
}

// Hub is all places. It may be used concurrently.
type Hub struct{ registries []registry }

// DefaultTaps are the repositories that are searched without being asked for.
func DefaultTaps() []string {
	return []string{"anthropics/skills", "openai/skills", "huggingface/skills"}
}

// New makes a hub; nothing is asked yet.
func New(c Config) *Hub {
	w := &web{client: c.Client}
	c.Bases.Raw = cmp.Or(c.Bases.Raw, "https://raw.githubusercontent.com")
	g := &github{web: w, api: cmp.Or(c.Bases.GitHub, "https://api.github.com"), raw: c.Bases.Raw, token: c.Token, taps: c.Taps}
	return &Hub{registries: []registry{
		g,
		&clawhub{web: w, base: cmp.Or(c.Bases.ClawHub, "https://clawhub.ai")},
		&skillsSh{web: w, base: cmp.Or(c.Bases.SkillsSh, "https://skills.sh"), github: g},
		&lobehub{web: w, base: cmp.Or(c.Bases.LobeHub, "https://chat-agents.lobehub.com")},
		&marketplace{github: g, repositories: c.Marketplaces},
		&wellKnown{web: w, sites: c.Sites},
		&address{web: w},
		folder{},
	}}
}

// Sources are the names of the places.
func (h *Hub) Sources() []string {
	var names []string
	for _, p := range h.registries {
		names = append(names, p.name())
	}
	return names
}

// Search asks the places, all or one, at once. What a place could not answer
// is told beside the results of the others.
func (h *Hub) Search(ctx context.Context, query, source string, limit int) ([]Listing, error) {
	registries := h.registries
	if source != "" {
		at := slices.IndexFunc(registries, func(p registry) bool { return p.name() == source })
		if at < 0 {
			return nil, fmt.Errorf("there is no source %q; there are: %s", source, strings.Join(h.Sources(), ", "))
		}
		registries = registries[at : at+1]
	}
	lists, faults := make([][]Listing, len(registries)), make([]error, len(registries))
	var wait sync.WaitGroup
	for i, p := range registries {
		wait.Go(func() {
			list, err := p.search(ctx, query, limit)
			if err != nil {
				err = fmt.Errorf("%s: %w", p.name(), err)
			}
			lists[i], faults[i] = list, err
		})
	}
	wait.Wait()
	return slices.Concat(lists...), errors.Join(faults...)
}

// Resolve tells which place an identifier belongs to, and what it is called
// there.
func Resolve(identifier string) (source, id string) {
	for _, prefix := range []string{"github", "clawhub", "skills-sh", "lobehub", "claude-marketplace", "well-known"} {
		for _, mark := range []string{"/", ":"} {
			if rest, ok := strings.CutPrefix(identifier, prefix+mark); ok {
				return prefix, rest
			}
		}
	}
	switch {
	case strings.HasPrefix(identifier, "https://skills.sh/"):
		return "skills-sh", strings.TrimPrefix(identifier, "https://skills.sh/")
	case strings.HasPrefix(identifier, "https://github.com/"):
		return "github", strings.TrimPrefix(identifier, "https://github.com/")
	case strings.Contains(identifier, "/.well-known/"):
		return "well-known", identifier
	case strings.HasPrefix(identifier, "https://"), strings.HasPrefix(identifier, "http://"):
		return "url", identifier
	case strings.HasPrefix(identifier, "."), strings.HasPrefix(identifier, "/"), strings.HasPrefix(identifier, "~"):
		return "folder", identifier
	case strings.Count(identifier, "/") >= 1:
		return "github", identifier
	}
	return "", identifier
}

// Fetch gets a skill by its identifier.
func (h *Hub) Fetch(ctx context.Context, identifier string) (Package, error) {
	source, id := Resolve(identifier)
	at := slices.IndexFunc(h.registries, func(p registry) bool { return p.name() == source })
	if at < 0 {
		return Package{}, fmt.Errorf("%q names no place; write owner/repo/path, clawhub/NAME, skills-sh/owner/repo/NAME, lobehub/NAME, claude-marketplace/owner/repo/plugin/NAME, https://…/SKILL.md or ./folder, or search first: hermes skills search %s", identifier, identifier)
	}
	p, err := h.registries[at].fetch(ctx, id)
	if err != nil {
		return Package{}, fmt.Errorf("fetch %s: %w", identifier, err)
	}
	p.Source = source
	if p.Identifier == "" {
		p.Identifier = identifier
	}
	return p, nil
}

// web asks addresses, within bounds.
type web struct{ client *http.Client }

// Bounds of what is fetched, in bytes.
const (
	maxIndex   = 16 << 20
	maxArchive = 64 << 20
)

// get returns the body of an address, at most limit bytes.
func (w *web) get(ctx context.Context, at string, limit int64, header http.Header) ([]byte, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return nil, fmt.Errorf("%s is not https; skills are fetched over https only", at)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, statusError(resp, u)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("%s sends more than %d MB", at, limit>>20)
	}
	return raw, nil
}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// statusError tells in plain words why a place did not answer.
func statusError(resp *http.Response, u *url.URL) error {
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("there is nothing at %s%s: %w", u.Host, u.Path, hermes.ErrNotFound)
	case resp.Header.Get("X-RateLimit-Remaining") == "0" && strings.Contains(u.Host, "github"):
		return errors.New("GitHub answers 60 requests an hour without a token, and these are used up; set GITHUB_TOKEN (hermes config set GITHUB_TOKEN …) or wait")
	case resp.StatusCode == http.StatusTooManyRequests || resp.Header.Get("X-RateLimit-Remaining") == "0":
		wait := cmp.Or(resp.Header.Get("Retry-After"), "some")
		return fmt.Errorf("%s was asked too often; wait %s seconds and try again", u.Host, wait)
	}
	return fmt.Errorf("%s answered with status %d", u.Host, resp.StatusCode)
}

// getJSON reads the body of an address into value.
func (w *web) getJSON(ctx context.Context, at string, header http.Header, value any) error {
	raw, err := w.get(ctx, at, maxIndex, header)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return fmt.Errorf("%s sent no index that is understood: %w", at, err)
	}
	return nil
}

// fits reports that a text has every word of a query; an empty one fits all.
func fits(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, " "))
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}
