package hub

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"hermes/internal/skill/guard"
)

// Publish opens a pull request that adds a skill to a repository and returns its
// URL. It pushes the files to a new branch, so it needs a token that may push.
func (h *Hub) Publish(ctx context.Context, repo, name string, files []guard.File) (string, error) {
	g, ok := h.registries[0].(*github)
	if !ok || g.token == "" {
		return "", errors.New("publishing needs a GitHub token that may push; set one with `hermes config set GITHUB_TOKEN -`")
	}
	if err := checkRepo(repo); err != nil {
		return "", err
	}
	at := g.api + "/repos/" + repo
	var info struct {
		DefaultBranch string `json:"default_branch"`
	}
	if err := g.send(ctx, http.MethodGet, at, nil, &info); err != nil {
		return "", err
	}
	var head struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	if err := g.send(ctx, http.MethodGet, at+"/git/ref/heads/"+url.PathEscape(info.DefaultBranch), nil, &head); err != nil {
		return "", err
	}
	branch := "skill-" + name
	if err := g.send(ctx, http.MethodPost, at+"/git/refs", map[string]string{"ref": "refs/heads/" + branch, "sha": head.Object.SHA}, nil); err != nil {
		return "", fmt.Errorf("create the branch %s: %w", branch, err)
	}
	for _, f := range files {
		body := map[string]string{"message": "add skill " + name + ": " + f.Path, "branch": branch, "content": base64.StdEncoding.EncodeToString(f.Data)}
		var there struct {
			SHA string `json:"sha"`
		}
		file := at + "/contents/skills/" + name + "/" + f.Path
		if g.send(ctx, http.MethodGet, file+"?ref="+url.QueryEscape(branch), nil, &there) == nil && there.SHA != "" {
			body["sha"] = there.SHA // replace the existing file
		}
		if err := g.send(ctx, http.MethodPut, file, body, nil); err != nil {
			return "", fmt.Errorf("upload %s: %w", f.Path, err)
		}
	}
	var pull struct {
		URL string `json:"html_url"`
	}
	err := g.send(ctx, http.MethodPost, at+"/pulls", map[string]string{"title": "Skill: " + name, "head": branch, "base": info.DefaultBranch}, &pull)
	return pull.URL, err
}

// send sends a request to GitHub's API and decodes the answer into value.
func (g *github) send(ctx context.Context, method, at string, body, value any) error {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, at, in)
	if err != nil {
		return err
	}
	for k, v := range g.header() {
		req.Header[k] = v
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxIndex))
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		var said struct{ Message string }
		_ = json.Unmarshal(raw, &said) // without a message the status is enough
		if said.Message != "" {
			return fmt.Errorf("GitHub: %s (status %d)", strings.TrimSpace(said.Message), resp.StatusCode)
		}
		return statusError(resp, req.URL)
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(raw, value)
}
