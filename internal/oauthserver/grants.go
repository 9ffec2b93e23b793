package oauthserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
)

// authorize is the page that a browser opens. It approves at once.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back := q.Get("redirect_uri")
	if back == "" {
		back = q.Get("callback_url")
	}
	u, err := url.Parse(back)
	if err != nil || back == "" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.serial++
	code := fmt.Sprintf("canary-code-%04d", s.serial)
	s.codes[code] = grant{q.Get("code_challenge"), back}
	s.mu.Unlock()
	answer := u.Query()
	if q.Get("scope") == "deny" {
		answer.Set("error", "access_denied")
		answer.Set("error_description", "the user refused")
	} else {
		answer.Set("code", code)
	}
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	u.RawQuery = answer.Encode()
	http.Redirect(w, r, u.String(), http.StatusFound)
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		refuse(w, "invalid_request", "no form")
		return
	}
	if r.Form.Get("client_id") == "" {
		refuse(w, "invalid_client", "no client")
		return
	}
	grant := r.Form.Get("grant_type")
	if grant == "refresh_token" && s.Hold != nil {
		s.Hold()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch grant {
	case "authorization_code":
		s.forCode(w, r.Form.Get("code"), r.Form.Get("code_verifier"), r.Form.Get("redirect_uri"))
	case "refresh_token":
		s.forRefresh(w, r.Form.Get("refresh_token"))
	case "urn:ietf:params:oauth:grant-type:device_code":
		s.forDevice(w, r.Form.Get("device_code"))
	default:
		refuse(w, "unsupported_grant_type", grant)
	}
}

func (s *Server) forCode(w http.ResponseWriter, code, verifier, redirect string) {
	s.counts.Codes++
	if !s.proves(code, verifier) || s.codes[code].redirect != redirect {
		refuse(w, "invalid_grant", "the code "+code+" is not valid")
		return
	}
	delete(s.codes, code)
	s.give(w)
}

func (s *Server) proves(code, verifier string) bool {
	g, known := s.codes[code]
	sum := sha256.Sum256([]byte(verifier))
	return known && g.challenge == base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s *Server) forRefresh(w http.ResponseWriter, old string) {
	s.counts.Refreshes++
	if s.spent[old] {
		s.counts.Replays++
		clear(s.refresh) // a replay counts as theft and revokes the whole chain
	}
	if !s.refresh[old] {
		refuse(w, "invalid_grant", "the token "+old+" is not valid")
		return
	}
	if !s.Reuse {
		delete(s.refresh, old)
		s.spent[old] = true
	}
	clear(s.access)
	s.give(w)
}

const deviceCode = "canary-device-code"

func (s *Server) startDevice(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, map[string]any{
		"device_code": deviceCode, "user_code": "WDJB-MJHT", "verification_uri": s.URL + "/activate",
		"verification_uri_complete": s.URL + "/activate?user_code=WDJB-MJHT", "expires_in": "600", "interval": 5,
	})
}

func (s *Server) forDevice(w http.ResponseWriter, code string) {
	s.counts.Polls++
	if code != deviceCode {
		refuse(w, "invalid_grant", "unknown device code")
		return
	}
	if len(s.device) == 0 {
		s.give(w)
		return
	}
	next := s.device[0]
	s.device = s.device[1:]
	if next == "500" {
		http.Error(w, "<html>oops</html>", http.StatusInternalServerError)
		return
	}
	refuse(w, next, "")
}

// key exchanges a code for a permanent key.
func (s *Server) key(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code     string `json:"code"`
		Verifier string `json:"code_verifier"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, "invalid_request", "no JSON")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Codes++
	if !s.proves(in.Code, in.Verifier) {
		reply(w, http.StatusForbidden, map[string]any{"error": map[string]any{"code": 403, "message": "Invalid code or code_verifier"}})
		return
	}
	delete(s.codes, in.Code)
	s.serial++
	reply(w, http.StatusOK, map[string]any{"key": fmt.Sprintf("canary-key-%04d", s.serial), "user_id": "user_1"})
}
