package oauth

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Refresh requests a new access token. A service may rotate the refresh token:
// then Token.Refresh is the new one and the old one is spent, so the token must
// be stored before it is used. After ErrRevoked only a new login helps; any other
// error may pass.
func (c Config) Refresh(ctx context.Context, refresh string) (Token, error) {
	if refresh == "" {
		return Token{}, ErrRevoked
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}}
	return c.token(ctx, form)
}

const (
	// exchangeTime bounds one request to a token endpoint.
	exchangeTime = 30 * time.Second
	// maxAnswer bounds the answer of a token endpoint, in bytes.
	maxAnswer = 1 << 20
	// maxLifetime prevents an absurd expiry from overflowing.
	maxLifetime = 10 * 365 * 24 * time.Hour
)

// token sends a grant to the token endpoint.
func (c Config) token(ctx context.Context, form url.Values) (Token, error) {
	if c.Form != FormBasic {
		form.Set("client_id", c.ClientID)
		if c.ClientSecret != "" {
			form.Set("client_secret", c.ClientSecret)
		}
	}
	if c.Bound.Resource != "" {
		form.Set("resource", c.Bound.Resource)
	}
	a, err := c.post(ctx, "token address", c.TokenURL, "application/x-www-form-urlencoded", []byte(form.Encode()), values(form))
	if err != nil {
		return Token{}, err
	}
	return a.token(c.now())
}

// keyFor exchanges a code for a permanent API key.
func (c Config) keyFor(ctx context.Context, code, verifier string) (Token, error) {
	body, err := json.Marshal(map[string]string{"code": code, "code_verifier": verifier, "code_challenge_method": "S256"})
	if err != nil {
		return Token{}, err
	}
	a, err := c.post(ctx, "token address", c.TokenURL, "application/json", body, []string{code, verifier})
	if err != nil {
		return Token{}, err
	}
	if a.Key == "" {
		return Token{}, errors.New("the login service sent no key")
	}
	return Token{Access: a.Key, Account: a.UserID, Lasting: true}, nil
}

// answer has all fields that the endpoints return.
type answer struct {
	Access    string          `json:"access_token"`
	Refresh   string          `json:"refresh_token"`
	ID        string          `json:"id_token"`
	Scope     string          `json:"scope"`
	ExpiresIn number          `json:"expires_in"`
	Resource  string          `json:"resource_url"`
	Key       string          `json:"key"`
	UserID    string          `json:"user_id"`
	Failure   json.RawMessage `json:"error"`
	Words     string          `json:"error_description"`

	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	VerifyURI  string `json:"verification_uri"`
	VerifyURL  string `json:"verification_url"` // an older name
	VerifyFull string `json:"verification_uri_complete"`
	Interval   number `json:"interval"`
}

// number is a JSON number that some services write as a string.
type number float64

func (n *number) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(f) {
		f = 0 // ignore it
	}
	*n = number(f)
	return nil
}

func (n number) seconds() time.Duration {
	if n <= 0 {
		return 0
	}
	return time.Duration(min(float64(n), maxLifetime.Seconds()) * float64(time.Second))
}

func (a answer) token(now time.Time) (Token, error) {
	if a.Access == "" {
		return Token{}, errors.New("the login service sent no access token")
	}
	t := Token{Access: a.Access, Refresh: a.Refresh, ID: a.ID, Scope: a.Scope, Resource: a.Resource, Account: account(a.ID, a.Access)}
	if d := a.ExpiresIn.seconds(); d > 0 {
		t.Expires = now.Add(d)
	}
	return t, nil
}

// account reads the user's id from the first token that is a JWT.
func account(tokens ...string) string {
	id, _ := Claims(tokens...)
	return id
}

// Claims reads the user's id and the expiry from tokens that are JWTs, each from the
// first one that has it; others have neither. The signature is not checked: the
// token came from its issuer, and the id only decides which quotas are shared.
func Claims(tokens ...string) (account string, expires time.Time) {
	for _, t := range tokens {
		parts := strings.Split(t, ".")
		if len(parts) != 3 {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
		if err != nil {
			continue
		}
		var claims struct {
			Subject string `json:"sub"`
			Expires number `json:"exp"`
			OpenAI  struct {
				Account string `json:"chatgpt_account_id"`
			} `json:"https://api.openai.com/auth"`
		}
		_ = json.Unmarshal(raw, &claims) // a partial result is enough
		account = cmp.Or(account, claims.OpenAI.Account, claims.Subject)
		if seconds := float64(claims.Expires); expires.IsZero() && seconds > 0 && seconds < maxSeconds {
			expires = time.Unix(int64(seconds), 0).UTC()
		}
	}
	return account, expires
}

// maxSeconds is the last second that counts as an expiry: in the year 5138.
const maxSeconds = 1e11

// post sends a request, reads the answer and traces both.
func (c Config) post(ctx context.Context, what, address, kind string, body []byte, secrets []string) (answer, error) {
	begun := c.now()
	a, err := c.send(ctx, what, address, kind, body, secrets)
	c.trace(address, body, a, err, c.now().Sub(begun))
	return a, err
}

// send is post without the trace. It removes secrets from the text of errors.
func (c Config) send(ctx context.Context, what, address, kind string, body []byte, secrets []string) (answer, error) {
	if err := secure(what, address); err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/json")
	if c.Form == FormBasic {
		secrets = append(secrets, c.ClientSecret)
		req.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.ClientSecret))
	}
	resp, err := c.client().Do(req)
	if err != nil {
		return answer{}, fmt.Errorf("call the login service: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return answer{}, fmt.Errorf("read the answer of the login service: %w", err)
	}
	var a answer
	parseErr := json.Unmarshal(raw, &a)
	if code, words := a.failure(); code != "" || resp.StatusCode < 200 || resp.StatusCode > 299 {
		return answer{}, &Error{Code: clean(code, secrets), Description: clean(words, secrets), Status: resp.StatusCode, Moved: moved(resp)}
	}
	if _, odd := errors.AsType[*json.UnmarshalTypeError](parseErr); parseErr != nil && !odd {
		return answer{}, errors.New("the login service did not return JSON; check its address")
	}
	return a, nil
}

// moved returns the host that an answer redirects to, "" if there is none.
func moved(resp *http.Response) string {
	if to, err := resp.Location(); err == nil && resp.StatusCode < 400 {
		return to.Host
	}
	return ""
}

// failure reads {"error": "code"} and {"error": {"code": …, "message": …}}.
func (a answer) failure() (code, words string) {
	if len(a.Failure) == 0 || string(a.Failure) == "null" {
		return "", a.Words
	}
	if json.Unmarshal(a.Failure, &code) == nil {
		return code, a.Words
	}
	var nested struct {
		Code    string `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(a.Failure, &nested) // a partial result is enough
	if nested.Code == "" {
		nested.Code = nested.Type
	}
	if nested.Code == "" {
		nested.Code = "error"
	}
	return nested.Code, nested.Message
}

func values(form url.Values) []string {
	var out []string
	for _, name := range []string{"refresh_token", "code", "code_verifier", "device_code", "client_secret"} {
		if v := form.Get(name); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// maxWords bounds a service's text in an error, in bytes.
const maxWords = 300

// clean puts a service's text on one line, without the secrets.
func clean(text string, secrets []string) string {
	for _, s := range secrets {
		if len(s) > 3 {
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}), " ")
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + "…"
	}
	return text
}
