package credential

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes"
	"hermes/internal/oauth"
)

// Program is another program whose login can be taken over. Hermes reads the login
// where that program stores it, each time it has changed, and never writes it: a
// renewal would spend the program's refresh token. Our file has only a reference.
type Program struct {
	ID      string // as --from takes it
	Title   string
	Pool    string // of the service that the login is for
	Command string // what the user runs to renew the login

	file     func(home string, getenv func(string) string) string
	keychain string // the service in the keychain of macOS, where there is no file
	parse    func(raw []byte) (oauth.Token, error)
}

// Programs lists the programs. Where they store a login is documented by them or
// plain from their open sources.
func Programs() []Program {
	below := func(variable, folder, name string) func(string, func(string) string) string {
		return func(home string, getenv func(string) string) string {
			if at := strings.TrimSpace(getenv(variable)); variable != "" && filepath.IsAbs(at) {
				return filepath.Join(at, name)
			}
			if home == "" {
				return ""
			}
			return filepath.Join(home, folder, name)
		}
	}
	return []Program{
		{"claude-code", "Claude Code", "anthropic", "claude", below("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json"), "Claude Code-credentials", parseClaude},
		{"codex", "Codex", "openai-codex", "codex", below("CODEX_HOME", ".codex", "auth.json"), "", parseCodex},
		{"gemini-cli", "Gemini CLI", "google-gemini-cli", "gemini", below("", ".gemini", "oauth_creds.json"), "", parseGoogle},
		{"qwen-code", "Qwen Code", "qwen-oauth", "qwen", below("", ".qwen", "oauth_creds.json"), "", parseGoogle},
	}
}

// File is where the program stores its login, "" if that is not known.
func (p Program) File(home string, getenv func(string) string) string { return p.file(home, getenv) }

// programSource is how the source of a login that belongs to a program begins.
const programSource = "program:"

// programOf returns the program that owns a credential.
func programOf(source string) (Program, bool) {
	id, ok := strings.CutPrefix(source, programSource)
	if !ok {
		return Program{}, false
	}
	for _, p := range Programs() {
		if p.ID == id {
			return p, true
		}
	}
	return Program{ID: id, Title: id, Command: id}, true // of a newer Hermes
}

// parseClaude reads {"claudeAiOauth": {"accessToken", "expiresAt" in milliseconds}}.
func parseClaude(raw []byte) (oauth.Token, error) {
	var f struct {
		Login struct {
			Access  string `json:"accessToken"`
			Expires moment `json:"expiresAt"`
		} `json:"claudeAiOauth"`
	}
	err := json.Unmarshal(raw, &f)
	return oauth.Token{Access: f.Login.Access, Expires: time.Time(f.Login.Expires)}, err
}

// parseCodex reads {"tokens": {"access_token", "account_id"}}. The token is a JWT
// with its own expiry.
func parseCodex(raw []byte) (oauth.Token, error) {
	var f struct {
		Tokens struct {
			Access  string `json:"access_token"`
			ID      string `json:"id_token"`
			Account string `json:"account_id"`
		} `json:"tokens"`
		Key string `json:"OPENAI_API_KEY"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return oauth.Token{}, err
	}
	if f.Tokens.Access == "" && f.Key != "" {
		return oauth.Token{}, errKeyOnly
	}
	account, expires := oauth.Claims(f.Tokens.Access, f.Tokens.ID)
	return oauth.Token{Access: f.Tokens.Access, Account: cmp.Or(f.Tokens.Account, account), Expires: expires}, nil
}

// errKeyOnly means that a program uses a key, which is not a login.
var errKeyOnly = errors.New("it uses an API key, not a login; add the key with `hermes auth add openai-api`")

// parseGoogle reads what Google's libraries store: {"access_token", "expiry_date" in
// milliseconds}. Qwen Code adds resource_url, the address of the service.
func parseGoogle(raw []byte) (oauth.Token, error) {
	var f struct {
		Access   string `json:"access_token"`
		Expires  moment `json:"expiry_date"`
		Resource string `json:"resource_url"`
	}
	err := json.Unmarshal(raw, &f)
	return oauth.Token{Access: f.Access, Expires: time.Time(f.Expires), Resource: f.Resource}, err
}

// programError says why the login of a program cannot be used, and what to run.
type programError struct {
	program Program
	why     string
}

// Error is for the user.
func (e *programError) Error() string {
	return fmt.Sprintf("the login of %s %s; run `%s`, which renews it (Hermes only reads it)", e.program.Title, e.why, e.program.Command)
}

// taken is the login of a program as it was last read.
type taken struct {
	token oauth.Token
	info  fs.FileInfo // of its file; nil if it came from a keychain
}

// maxLogin bounds the file of another program's login, in bytes.
const maxLogin = 1 << 20

// takeOver returns the login of a program. It reads the file again if it has
// changed. While the other program writes, the login read before is used.
func (s *Store) takeOver(p Program) (oauth.Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.taken[p.ID]
	path := s.pathOf(p)
	info, err := os.Stat(path)
	switch {
	case path == "" || errors.Is(err, fs.ErrNotExist):
		if known && before.info == nil {
			return before.token, nil // from the keychain
		}
		delete(s.taken, p.ID)
		return oauth.Token{}, &programError{p, "was not found"}
	case err != nil:
		return oauth.Token{}, fmt.Errorf("the login of %s: %w", p.Title, err)
	case known && before.info != nil && os.SameFile(before.info, info) && before.info.ModTime().Equal(info.ModTime()) && before.info.Size() == info.Size():
		return before.token, nil
	}
	token, err := readLogin(p, path)
	if err != nil {
		if known && before.info != nil && s.cfg.Now().Before(before.token.Expires) {
			return before.token, nil
		}
		return oauth.Token{}, err
	}
	s.taken[p.ID] = taken{token, info}
	return token, nil
}

// pathOf is where a program stores its login, "" if that is unknown.
func (s *Store) pathOf(p Program) string {
	if p.file == nil {
		return ""
	}
	return p.file(s.cfg.UserHome, s.cfg.Getenv)
}

func readLogin(p Program, path string) (oauth.Token, error) {
	f, err := os.Open(path)
	if err != nil {
		return oauth.Token{}, fmt.Errorf("the login of %s: %w", p.Title, err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxLogin))
	if err != nil {
		return oauth.Token{}, fmt.Errorf("the login of %s: %w", p.Title, err)
	}
	return p.login(raw)
}

// login parses what a program stores. Its errors quote nothing of it.
func (p Program) login(raw []byte) (oauth.Token, error) {
	token, err := p.parse(raw)
	switch {
	case errors.Is(err, errKeyOnly):
		return oauth.Token{}, fmt.Errorf("the login of %s cannot be used: %w", p.Title, err)
	case err != nil:
		return oauth.Token{}, &programError{p, "cannot be read"}
	case token.Access == "":
		return oauth.Token{}, &programError{p, "is missing"}
	}
	return token, nil
}

// fromKeychain reads the login of a program that has no file.
func (s *Store) fromKeychain(ctx context.Context, p Program) (oauth.Token, error) {
	text, err := s.cfg.Programs(ctx, p.keychain)
	if err != nil {
		return oauth.Token{}, &programError{p, "cannot be read from the keychain (" + err.Error() + ")"}
	}
	token, err := p.login([]byte(text))
	if err != nil {
		return token, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[p.ID] = taken{token: token}
	return token, nil
}

// current returns a login of a program whose token can be sent.
func (p *Pool) current(ctx context.Context, r record, program Program) (record, error) {
	token, err := p.s.takeOver(program)
	r = r.owned(token)
	if (err != nil || p.why(r, program) != nil) && p.s.byKeychain(program) {
		token, err = p.s.fromKeychain(ctx, program)
		r = r.owned(token)
	}
	if err != nil {
		return r, err
	}
	return r, p.why(r, program)
}

// why says why the token of a program cannot be sent; nil if it can.
func (p *Pool) why(r record, program Program) error {
	now := p.s.cfg.Now()
	p.sh.mu.Lock()
	refused := p.sh.stale[r.id] == r.fingerprint
	p.sh.mu.Unlock()
	switch {
	case !r.expires.IsZero() && !now.Before(r.expires):
		return &programError{program, "has expired"}
	case refused:
		return &programError{program, "was refused by the service"}
	}
	return nil
}

// owned joins a reference to a program's login with the token.
func (r record) owned(t oauth.Token) record {
	if t.Access == "" {
		r.secret, r.refresh = "", ""
		return r
	}
	print := fingerprint(hermes.Secret(t.Access))
	if print != r.fingerprint {
		r.state = state{} // it was the state of an older token
	}
	r.secret, r.fingerprint, r.expires = hermes.Secret(t.Access), print, t.Expires
	r.account, r.baseURL, r.refresh = cmp.Or(t.Account, r.account), resource(t.Resource), ""
	return r
}

// unread reports whether the login of a program is in a keychain that was not read
// yet: it is read only when it is used, since the system may ask the user.
func (p *Pool) unread(r record, program Program) bool {
	return r.secret == "" && p.s.byKeychain(program)
}

// byKeychain reports whether the login of a program can only be in the keychain.
func (s *Store) byKeychain(p Program) bool {
	if p.keychain == "" || s.cfg.Programs == nil {
		return false
	}
	_, err := os.Stat(s.pathOf(p))
	return errors.Is(err, fs.ErrNotExist)
}

// WithoutPrograms is the pool for a server that is not the service's own, such as a
// proxy: the user has consented to the use of another program's login for its service
// only, so it is not lent there.
func (p *Pool) WithoutPrograms() hermes.Keys {
	own := *p
	own.own = true
	return &own
}

// Offer is a login of another program that the user may take over.
type Offer struct {
	Program
	Path string // of the file, which was not read
}

// Offers lists the programs with a login for this pool that is not taken over yet.
// It only checks whether their files exist.
func (p *Pool) Offers() []Offer {
	var out []Offer
	for _, program := range Programs() {
		if program.Pool != p.name || p.has(program) {
			continue
		}
		if path := p.s.pathOf(program); path != "" {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				out = append(out, Offer{program, path})
			}
		}
	}
	return out
}

func (p *Pool) has(program Program) bool {
	for _, r := range p.records() {
		if r.source == programSource+program.ID {
			return true
		}
	}
	return false
}
