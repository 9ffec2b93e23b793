// Package hub searches and fetches skills in registries: GitHub repositories,
// ClawHub, skills.sh, sites with a well-known index, LobeHub, Claude
// marketplaces, single URLs and local folders. Each registry is one type in one
// file.
//
// It returns files and where they came from. It neither scans nor installs them:
// package skill does that before anything is used. Start at New; Resolve shows
// how an identifier is mapped to a registry.
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
	"hermes/internal/httpc"
	"hermes/internal/skill/guard"
)

// Listing is a search result.
type Listing struct {
	Name        string
	Description string
	Source      string // the registry: github, clawhub, …
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

// Bases are the URLs of the registries; an empty one means the public one.
type Bases struct{ GitHub, Raw, ClawHub, SkillsSh, LobeHub string }

// Config is what New needs.
type Config struct {
	// Client sends the requests. It follows redirects as httpc.Downloads says.
	Client *http.Client
	Bases  Bases
	// Token is a GitHub token. Without one GitHub allows 60 requests an hour.
	Token hermes.Secret
	// Taps are repositories (owner/name) to search on GitHub. Marketplaces are
	// repositories with a Claude marketplace. Sites are URLs of sites with a
	// well-known index.
	Taps, Marketplaces, Sites []string
}

// registry is one place to get skills from.
type registry interface {
	name() string
	search(ctx context.Context, query string, limit int) ([]Listing, error)
	// fetch takes the identifier without the registry's prefix.
	fetch(ctx context.Context, id string) (Package, error)
}

// Hub is the set of all registries. It is safe for concurrent use.
type Hub struct{ registries []registry }

// DefaultTaps returns the repositories that are always searched.
func DefaultTaps() []string {
	return []string{"anthropics/skills", "openai/skills", "huggingface/skills"}
}

// New makes a hub. It sends no requests yet.
func New(c Config) *Hub {
	w := &web{client: httpc.Downloads.Client(c.Client)}
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

// Sources returns the names of the registries.
func (h *Hub) Sources() []string {
	var names []string
	for _, p := range h.registries {
		names = append(names, p.name())
	}
	return names
}

// Search searches all registries at the same time, or the one named by source. If
// some fail, it returns their errors together with the results of the others.
func (h *Hub) Search(ctx context.Context, query, source string, limit int) ([]Listing, error) {
	registries := h.registries
	if source != "" {
		at := slices.IndexFunc(registries, func(p registry) bool { return p.name() == source })
		if at < 0 {
			return nil, fmt.Errorf("unknown source %q; use one of: %s", source, strings.Join(h.Sources(), ", "))
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

// Resolve returns the registry of an identifier, and the id that the skill has
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
		return Package{}, fmt.Errorf("%q is not a skill identifier; use owner/repo/path, clawhub/NAME, skills-sh/owner/repo/NAME, lobehub/NAME, claude-marketplace/owner/repo/plugin/NAME, https://…/SKILL.md or ./folder, or search for it with: hermes skills search %s", identifier, identifier)
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

// web fetches URLs, with limits on their size.
type web struct{ client *http.Client }

// Limits of what is fetched, in bytes.
const (
	maxIndex   = 16 << 20
	maxArchive = 64 << 20
	// MaxBody bounds what one response of a registry may have.
	MaxBody = maxArchive + 1
)

// get returns the body of a URL. More than limit bytes are an error.
func (w *web) get(ctx context.Context, at string, limit int64, header http.Header) ([]byte, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname())) {
		return nil, fmt.Errorf("%s is not an https URL; skills are fetched over https only", at)
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
		return nil, fmt.Errorf("%s is larger than %d MB", at, limit>>20)
	}
	return raw, nil
}

func loopback(host string) bool { return host == "localhost" || host == "127.0.0.1" || host == "::1" }

// statusError explains why a server did not answer.
func statusError(resp *http.Response, u *url.URL) error {
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("no page at %s%s: %w", u.Host, u.Path, hermes.ErrNotFound)
	case resp.Header.Get("X-RateLimit-Remaining") == "0" && strings.Contains(u.Host, "github"):
		return errors.New("GitHub rate limit reached (60 requests an hour without a token); set one with `hermes config set GITHUB_TOKEN -`, or wait")
	case resp.StatusCode == http.StatusTooManyRequests || resp.Header.Get("X-RateLimit-Remaining") == "0":
		wait := cmp.Or(resp.Header.Get("Retry-After"), "some")
		return fmt.Errorf("%s received too many requests; wait %s seconds and try again", u.Host, wait)
	}
	return fmt.Errorf("%s answered with status %d", u.Host, resp.StatusCode)
}

// getJSON decodes the body of a URL into value.
func (w *web) getJSON(ctx context.Context, at string, header http.Header, value any) error {
	raw, err := w.get(ctx, at, maxIndex, header)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return fmt.Errorf("%s did not return a valid index: %w", at, err)
	}
	return nil
}

// fits reports whether the texts have every word of a query. An empty query fits.
func fits(query string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, " "))
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}
