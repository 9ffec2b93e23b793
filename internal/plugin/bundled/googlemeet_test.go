package bundled_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/plugin/bundled/login"
)

// newMeet is a server with the part of Google Meet's API that the plugin uses, and a login.
func newMeet(t *testing.T) (*fake, *place) {
	t.Helper()
	f := newFake(t)
	const space = `{"name":"spaces/jQCFfuBOdN5z","meetingUri":"https://meet.google.com/abc-mnop-xyz","meetingCode":"abc-mnop-xyz","config":{"accessType":"OPEN"}}`
	f.answers("POST /v2/spaces", space)
	f.answers("GET /v2/spaces/{id}", space)
	f.mux.HandleFunc("POST /v2/spaces/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != "jQCFfuBOdN5z:endActiveConference" {
			reply(w, 404, `{"error":{"code":404,"message":"not found","status":"NOT_FOUND"}}`)
			return
		}
		reply(w, 200, `{}`)
	})
	f.answers("GET /v2/conferenceRecords", `{"conferenceRecords":[{"name":"conferenceRecords/c-1","startTime":"2026-11-28T10:00:00Z","space":"spaces/jQCFfuBOdN5z"}],"nextPageToken":"more"}`)
	f.answers("GET /v2/conferenceRecords/c-1/participants", `{"participants":[{"name":"conferenceRecords/c-1/participants/1","earliestStartTime":"2026-11-28T10:00:00Z","signedinUser":{"user":"users/1","displayName":"Ada"}},{"name":"conferenceRecords/c-1/participants/2","earliestStartTime":"2026-11-28T10:01:00Z","anonymousUser":{"displayName":"A guest"}}],"totalSize":2}`)
	f.answers("GET /v2/conferenceRecords/c-1/recordings", `{"recordings":[{"name":"conferenceRecords/c-1/recordings/r","state":"FILE_GENERATED","driveDestination":{"file":"x","exportUri":"https://drive.google.com/file/d/x/view"}}]}`)
	f.answers("GET /v2/conferenceRecords/c-1/transcripts", `{"transcripts":[{"name":"conferenceRecords/c-1/transcripts/t-1","state":"ENDED"},{"name":"conferenceRecords/c-1/transcripts/t-2","state":"FILE_GENERATED","docsDestination":{"exportUri":"https://docs.google.com/document/d/x/view"}}]}`)
	f.answers("GET /v2/conferenceRecords/c-1/transcripts/t-1/entries", `{"transcriptEntries":[{"participant":"conferenceRecords/c-1/participants/1","text":"Good morning.","startTime":"2026-11-28T10:02:00Z"},{"participant":"conferenceRecords/c-1/participants/9","text":"Hello.","startTime":"2026-11-28T10:02:05Z"}],"nextPageToken":"two"}`)
	f.answers("GET /v2/conferenceRecords/c-1/transcripts/t-2/entries", `{"transcriptEntries":[]}`)
	f.answers("GET /v2/conferenceRecords/c-2/transcripts", `{}`)
	p := install(t, "google-meet", "", nil, "address="+f.URL, "token="+f.URL+"/token")
	if err := login.Write(t.Context(), p.home, login.File{ClientID: "app", ClientSecret: "s", Access: "first", Refresh: "r1", Expires: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	return f, p
}

func TestGoogleMeetIsAToolsetLikeOthers(t *testing.T) {
	t.Parallel()
	_, p := newMeet(t)
	hermestest.RunToolset(t, func(*testing.T) hermes.Toolset { return p.toolset() },
		hermestest.ToolSample{Tool: "meet_create", Arguments: `{}`, Want: "https://meet.google.com/abc-mnop-xyz"},
		hermestest.ToolSample{Tool: "meet_get", Arguments: `{"meeting":"https://meet.google.com/abc-mnop-xyz"}`, Want: `"accessType":"OPEN"`},
		hermestest.ToolSample{Tool: "meet_end", Arguments: `{"meeting":"abc-mnop-xyz"}`, Want: "spaces/jQCFfuBOdN5z"},
		hermestest.ToolSample{Tool: "meet_conferences", Arguments: `{}`, Want: `"nextPageToken":"more"`},
		hermestest.ToolSample{Tool: "meet_participants", Arguments: `{"conference":"conferenceRecords/c-1"}`, Want: `"A guest"`},
		hermestest.ToolSample{Tool: "meet_recordings", Arguments: `{"conference":"c-1"}`, Want: "drive.google.com"},
		hermestest.ToolSample{Tool: "meet_transcript", Arguments: `{"conference":"c-1"}`, Want: `10:02:00Z Ada: Good morning.\n2026-11-28T10:02:05Z someone: Hello.\n`},
		hermestest.ToolSample{Tool: "meet_transcript", Arguments: `{"conference":"c-2"}`, Want: "No transcript"},
	)
}

// TestGoogleMeetSendsWhatItsReferenceSays compares requests with the reference of the API.
func TestGoogleMeetSendsWhatItsReferenceSays(t *testing.T) {
	t.Parallel()
	f, p := newMeet(t)
	set := p.toolset()
	for _, tt := range []struct{ tool, arguments, want string }{
		{"meet_create", `{"access":"RESTRICTED"}`, `POST /v2/spaces {"config":{"accessType":"RESTRICTED"}}`},
		{"meet_end", `{"meeting":"abc-mnop-xyz"}`, "GET /v2/spaces/abc-mnop-xyz\nPOST /v2/spaces/jQCFfuBOdN5z:endActiveConference {}"},
		{"meet_conferences", `{"meeting":"abc-mnop-xyz","since":"2026-11-01T00:00:00Z","limit":5}`,
			"GET /v2/conferenceRecords?filter=space.meeting_code+%3D+%22abc-mnop-xyz%22+AND+start_time+%3E%3D+%222026-11-01T00%3A00%3A00Z%22&pageSize=5"},
		{"meet_conferences", `{"meeting":"spaces/jQCFfuBOdN5z","page_token":"more"}`, "GET /v2/conferenceRecords?filter=space.name+%3D+%22spaces%2FjQCFfuBOdN5z%22&pageSize=25&pageToken=more"},
		{"meet_participants", `{"conference":"c-1","page_token":"x"}`, "GET /v2/conferenceRecords/c-1/participants?pageSize=250&pageToken=x"},
		{"meet_transcript", `{"conference":"c-1","transcript":"conferenceRecords/c-1/transcripts/t-2","page_token":"two"}`,
			"GET /v2/conferenceRecords/c-1/transcripts?pageSize=100\nGET /v2/conferenceRecords/c-1/transcripts/t-2/entries?pageSize=100&pageToken=two\nGET /v2/conferenceRecords/c-1/participants?pageSize=250"},
	} {
		got := call(t, set, tt.tool, tt.arguments)
		if asked := f.seen(); asked != tt.want {
			t.Errorf("%s %s\nsent %s\nwant %s\n(%s)", tt.tool, tt.arguments, asked, tt.want, got)
		}
	}
	for _, tt := range []struct{ tool, arguments, says string }{
		{"meet_get", `{"meeting":"../conferenceRecords"}`, "is no meeting"},
		{"meet_participants", `{"conference":"c-1/../../x"}`, "no conference record"},
		{"meet_conferences", `{"since":"x\" OR true"}`, "write it as"},
		{"meet_create", `{"access":"ALL"}`, "there is no access"},
		{"meet_transcript", `{"conference":"c-1","transcript":"t-9"}`, "has no transcript"},
	} {
		if got := call(t, set, tt.tool, tt.arguments); !strings.Contains(got, tt.says) {
			t.Errorf("%s %s: %s", tt.tool, tt.arguments, got)
		}
	}
	f.set(func(w http.ResponseWriter, _ *http.Request) bool {
		reply(w, 403, `{"error":{"code":403,"message":"Google Meet API has not been used in project 1 before or it is disabled.","status":"PERMISSION_DENIED"}}`)
		return true
	})
	if got := call(t, set, "meet_create", `{}`); !strings.Contains(got, "disabled") || !strings.Contains(got, "must be enabled") {
		t.Error(got)
	}
}
