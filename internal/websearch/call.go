package websearch

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"hermes/internal/httpc"
	"hermes/internal/text"
)

// maxAnswer bounds the answer of a service, in bytes.
const maxAnswer = 16 << 20

// auth says in which header a key is sent.
type auth int

const (
	bearer auth = iota
	apiKey
	subscriptionToken
)

// post sends a JSON object and reads the answer into out.
func (s *Service) post(ctx context.Context, a auth, path string, in map[string]any, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	raw, err := s.send(ctx, a, http.MethodPost, path, "application/json", body)
	if err != nil {
		return err
	}
	return decode(raw, out)
}

// get sends a query and reads the answer into out.
func (s *Service) get(ctx context.Context, a auth, path string, query url.Values, out any) error {
	raw, err := s.send(ctx, a, http.MethodGet, path+"?"+query.Encode(), "", nil)
	if err != nil {
		return err
	}
	return decode(raw, out)
}

func decode(raw []byte, out any) error {
	if err := json.Unmarshal(raw, out); err != nil {
		return failure(BadAnswer, "it is not the JSON that was expected")
	}
	return nil
}

// send sends a request with the key and returns the body of a success.
func (s *Service) send(ctx context.Context, a auth, method, path, kind string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL()+path, bytes.NewReader(body))
	if err != nil {
		return nil, failure(Rejected, "its address %s is not valid", s.Address)
	}
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if key := s.key(); key != "" {
		switch a {
		case apiKey:
			req.Header.Set("X-Api-Key", key)
		case subscriptionToken:
			req.Header.Set("X-Subscription-Token", key)
		default:
			req.Header.Set("Authorization", "Bearer "+key)
		}
	}
	resp, err := httpc.WithinOrigin.Client(s.HTTP).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, s.refusal(resp, raw)
	}
	if len(raw) > maxAnswer {
		return nil, failure(BadAnswer, "it is larger than %d MB", maxAnswer>>20)
	}
	return raw, nil
}

// message returns what the body of a failure says: a text of one of the usual fields.
func message(body []byte) string {
	var v map[string]any
	if json.Unmarshal(body, &v) != nil {
		return ""
	}
	for _, name := range []string{"error", "message", "detail", "reason"} {
		switch e := v[name].(type) {
		case string:
			return text.OneLine(e, maxDetail)
		case map[string]any:
			raw, _ := json.Marshal(e) // it was JSON
			if said := message(raw); said != "" {
				return said
			}
		}
	}
	return ""
}

// line returns a text on one line, cut to at most so many characters.
func line(s string, most int) string {
	return text.Line(s, most)
}
