package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/httpc"
	"hermes/internal/serverinfo"
	"hermes/internal/transport/base"
)

// Provider returns a service by name, alias or "custom:name".
func (c *Catalogue) Provider(name string) (hermes.Provider, error) {
	e, err := c.endpoint(strings.ToLower(name))
	if err != nil {
		return nil, err
	}
	return &service{c, e}, nil
}

// service is a hermes.Provider.
type service struct {
	c *Catalogue
	e endpoint
}

// Name returns the id that references begin with.
func (s *service) Name() string { return s.e.id }

// Model returns the named model in its chain.
func (s *service) Model(name string) (hermes.Model, error) {
	if why := s.e.missing(); why != "" {
		return nil, fmt.Errorf("%w: %s", hermes.ErrNoModel, why)
	}
	return s.c.build(choice{s.e, s.c.nameFor(s.e, name)})
}

// List asks the service for its models.
func (s *service) List(ctx context.Context) ([]hermes.ModelInfo, error) {
	return s.c.list(ctx, s.e)
}

// list tries /models and then /v1/models below the service's address.
func (c *Catalogue) list(ctx context.Context, e endpoint) ([]hermes.ModelInfo, error) {
	if len(e.argv) > 0 { // a program is not started to be asked
		return []hermes.ModelInfo{{ID: e.Model, Name: "the program's own choice"}}, nil
	}
	key, err := e.lend(ctx)
	if err != nil {
		return nil, &unlisted{e, err}
	}
	if key.BaseURL != "" { // the key is for this address only
		e.BaseURL = key.BaseURL
	}
	root := strings.TrimRight(e.BaseURL, "/")
	paths := []string{root + "/models", root + "/v1/models"}
	switch e.Protocol {
	case ProtocolAnthropic:
		slices.Reverse(paths)
	case ProtocolGemini:
		paths = []string{root + "/models?pageSize=1000"}
	case ProtocolOllama:
		paths = []string{strings.TrimSuffix(strings.TrimSuffix(root, "/v1"), "/api") + "/v1/models"}
	case ProtocolBedrock:
		return nil, fmt.Errorf("%s does not list its models at this address; give the id of one, such as %s:us.anthropic.claude-sonnet-4-5-20250929-v1:0", e.id, e.id)
	}
	var firstErr error
	for _, url := range paths {
		list, err := c.listAt(ctx, e, key, url)
		if err == nil {
			c.learned.Keep(e.BaseURL, list)
			if path := strings.TrimSuffix(strings.TrimPrefix(url, root), "/models"); path == "" || path == serverinfo.APIPath {
				c.learned.Listed(e.BaseURL, path)
			}
			return list, nil
		}
		if firstErr == nil {
			firstErr = &unlisted{e, err}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, firstErr
}

// unlisted is the error of a service that does not list its models.
type unlisted struct {
	endpoint
	err error
}

// Error is the text for the user; the cause is for the log.
func (e *unlisted) Error() string { return e.id + " does not list its models: " + e.why() }
func (e *unlisted) Unwrap() error { return e.err }

func (e *unlisted) why() string {
	why := fault.Classify(fault.Question{Err: e.err}).Message
	if no, ok := errors.AsType[*httpc.RedirectError](e.err); ok {
		why += "; " + base.NewAddress(no, e.BaseURL, e.setting())
	}
	return why
}

func (c *Catalogue) listAt(ctx context.Context, e endpoint, lent hermes.Key, url string) ([]hermes.ModelInfo, error) {
	header := e.header()
	if lent.BaseURL != "" && !sameServer(lent.BaseURL, e.custom.BaseURL) {
		header = withoutSecrets(header)
	}
	body, err := c.get(ctx, e, lent, header, url)
	if err != nil {
		return nil, err
	}
	return serverinfo.ParseList(body)
}

// maxList bounds such an answer, in bytes.
const maxList = 16 << 20

// get asks a server something about its models, with a key and headers.
func (c *Catalogue) get(ctx context.Context, e endpoint, key hermes.Key, header http.Header, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if secret := key.Secret.Reveal(); secret != "" {
		e.setKey(req.Header, secret)
	}
	maps.Copy(req.Header, header)
	client, err := c.client(e)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxList))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &fault.Failure{Status: resp.StatusCode, Header: resp.Header, Body: body}
	}
	return body, err
}

// setKey sets the header in which the service expects the key.
func (e endpoint) setKey(h http.Header, key string) {
	switch {
	case e.Protocol == ProtocolAnthropic && !e.Bearer:
		h.Set("X-Api-Key", key)
		h.Set("Anthropic-Version", "2023-06-01")
	case e.Protocol == ProtocolGemini && !e.Bearer:
		h.Set("X-Goog-Api-Key", key)
	case e.Chat.KeyHeader != "":
		h.Set(e.Chat.KeyHeader, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}
