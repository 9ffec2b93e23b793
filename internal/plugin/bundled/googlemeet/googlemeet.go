// Package googlemeet is the plugin that makes meetings of Google Meet and reads what is known of them
// afterwards, over version 2 of its REST API. It does not join calls. Start at New.
package googlemeet

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"hermes/internal/oauth"
	"hermes/internal/plugin/bundled/login"
	"hermes/internal/plugin/bundled/rest"
	"hermes/internal/plugin/sdk"
)

// Files are the manifest and what it says to users.
//
//go:embed plugin.yaml README.md
var Files embed.FS

// Name is that of the plugin.
const Name = "google-meet"

// LogIn is what the user runs.
const LogIn = "hermes plugins login google-meet"

// Login says how to log in. Google wants a secret also from programs on the user's machine, and says that it
// is none; it has no device flow for these rights.
func Login() login.Service {
	return login.Service{
		Title: "Google",
		OAuth: oauth.Config{
			AuthURL: "https://accounts.google.com/o/oauth2/v2/auth", TokenURL: "https://oauth2.googleapis.com/token", Redirect: "http://127.0.0.1:0/callback",
			Scopes: []string{"https://www.googleapis.com/auth/meetings.space.created", "https://www.googleapis.com/auth/meetings.space.readonly"},
			Params: map[string]string{"access_type": "offline", "prompt": "consent"}, // else there is no refresh token
		},
		IDVariable: "HERMES_GOOGLE_MEET_CLIENT_ID", SecretVariable: "HERMES_GOOGLE_MEET_CLIENT_SECRET",
		Steps: "Google wants a client of your own:\n" +
			"  1. Open https://console.cloud.google.com, make a project and enable the Google Meet REST API in it.\n" +
			"  2. Under APIs & Services, set up the consent screen with you as a test user.\n" +
			"  3. Under Credentials, create an OAuth client ID of the type Desktop app, and copy its id and secret.",
	}
}

// Config is what the plugin runs on.
type Config struct {
	Version string
	// Base is the address of the API without its version.
	Base  string
	HTTP  *http.Client
	Login *login.Session
}

// New makes the plugin.
func New(c Config) *sdk.Plugin {
	s := &service{&rest.Client{Service: "Google Meet", Base: c.Base, HTTP: c.HTTP, Authorize: c.Login.Authorize, Renew: c.Login.Renew, Advice: advice}}
	return &sdk.Plugin{Name: Name, Version: c.Version, Tools: s.tools()}
}

func advice(f *rest.Failure) string {
	switch f.Status {
	case http.StatusUnauthorized:
		return "ask the user to run `" + LogIn + "`"
	case http.StatusForbidden:
		return "only the organizer may do that, and the Google Meet REST API must be enabled in the project of the client"
	}
	return ""
}

// service is the API.
type service struct{ *rest.Client }

// space is a place for meetings.
type space struct {
	Name   string `json:"name"`
	URI    string `json:"meetingUri"`
	Code   string `json:"meetingCode"`
	Config *struct {
		Access string `json:"accessType"`
		Entry  string `json:"entryPointAccess"`
	} `json:"config,omitempty"`
	Active *struct {
		Record string `json:"conferenceRecord"`
	} `json:"activeConference,omitempty"`
}

// spacePattern is a meeting code or the id of a space, recordPattern the id of a conference record.
var (
	spacePattern  = regexp.MustCompile(`^[A-Za-z0-9_-]{3,64}$`)
	recordPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{3,128}$`)
)

// spaceID reads a meeting code, a link or a name of a space.
func spaceID(text string) (string, error) {
	id := strings.TrimPrefix(strings.TrimSpace(text), "spaces/")
	if u, err := url.Parse(id); err == nil && u.Host == "meet.google.com" {
		id = strings.Trim(u.Path, "/")
	}
	if !spacePattern.MatchString(id) {
		return "", fmt.Errorf("%q is no meeting; give its code such as abc-mnop-xyz, its link, or spaces/…", text)
	}
	return id, nil
}

// record reads the name of a conference record.
func record(text string) (string, error) {
	id := strings.TrimPrefix(strings.TrimSpace(text), "conferenceRecords/")
	if !recordPattern.MatchString(id) {
		return "", fmt.Errorf("%q is no conference record; meet_conferences lists them, as conferenceRecords/…", text)
	}
	return "/v2/conferenceRecords/" + id, nil
}

// page are the parameters of lists.
func page(size, most int, token string) url.Values {
	if size <= 0 {
		size = most
	}
	q := url.Values{"pageSize": {strconv.Itoa(min(size, most))}}
	if token != "" {
		q.Set("pageToken", token)
	}
	return q
}

func (s *service) list(ctx context.Context, path string, q url.Values, into any) error {
	_, err := s.Do(ctx, http.MethodGet, path, q, nil, into)
	return err
}
