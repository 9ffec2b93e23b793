package googlemeet

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"hermes/internal/plugin/bundled/typed"
	"hermes/internal/plugin/sdk"
)

type createArgs struct {
	Access string `json:"access,omitempty" doc:"who comes in without asking: OPEN is everyone with the link, TRUSTED the organizer's organization and guests, RESTRICTED guests only; by default as the user set it" enum:"OPEN,TRUSTED,RESTRICTED"`
}

type spaceArgs struct {
	Meeting string `json:"meeting" doc:"its code such as abc-mnop-xyz, its link, or spaces/…"`
}

type conferencesArgs struct {
	Meeting string `json:"meeting,omitempty" doc:"only those of this meeting: its code such as abc-mnop-xyz, or spaces/…"`
	Since   string `json:"since,omitempty" doc:"only those that began at or after this time, such as 2026-11-28T00:00:00Z"`
	Limit   int    `json:"limit,omitempty" default:"25" min:"1" max:"100"`
	Token   string `json:"page_token,omitempty" doc:"from the page before"`
}

type recordArgs struct {
	Record string `json:"conference" doc:"conferenceRecords/…, from meet_conferences"`
	Token  string `json:"page_token,omitempty" doc:"from the page before"`
}

type transcriptArgs struct {
	Record     string `json:"conference" doc:"conferenceRecords/…, from meet_conferences"`
	Transcript string `json:"transcript,omitempty" doc:"which one, if there are several; by default the first"`
	Token      string `json:"page_token,omitempty" doc:"from the page before"`
}

func (s *service) tools() []sdk.Tool {
	return []sdk.Tool{
		typed.Tool(typed.Spec{Name: "meet_create", Description: "Make a meeting in Google Meet and return its link."}, s.create),
		typed.Tool(typed.Spec{Name: "meet_get", Description: "Show a meeting: its link, who may come in, and whether a call runs.", Reads: true}, s.get),
		typed.Tool(typed.Spec{Name: "meet_end", Description: "End the call that runs in a meeting, for everyone."}, s.end),
		typed.Tool(typed.Spec{Name: "meet_conferences", Description: "List the calls that took place, newest first.", Reads: true}, s.conferences),
		typed.Tool(typed.Spec{Name: "meet_participants", Description: "List who took part in a call, and when.", Reads: true}, s.participants),
		typed.Tool(typed.Spec{Name: "meet_recordings", Description: "List the recordings of a call, with links to them.", Reads: true}, s.recordings),
		typed.Tool(typed.Spec{Name: "meet_transcript", Description: "Read the transcript of a call, if one was made.", Reads: true}, s.transcript),
	}
}

func (s *service) create(ctx context.Context, _ *sdk.Call, in createArgs) (any, error) {
	body := map[string]any{}
	if in.Access != "" {
		if !slices.Contains([]string{"OPEN", "TRUSTED", "RESTRICTED"}, in.Access) {
			return nil, fmt.Errorf("there is no access %q; there are OPEN, TRUSTED and RESTRICTED", in.Access)
		}
		body["config"] = map[string]string{"accessType": in.Access}
	}
	var r space
	_, err := s.Do(ctx, http.MethodPost, "/v2/spaces", nil, body, &r)
	return r, err
}

func (s *service) get(ctx context.Context, _ *sdk.Call, in spaceArgs) (any, error) {
	id, err := spaceID(in.Meeting)
	if err != nil {
		return nil, err
	}
	var r space
	_, err = s.Do(ctx, http.MethodGet, "/v2/spaces/"+id, nil, nil, &r)
	return r, err
}

// end needs the name of the space: a code is not enough.
func (s *service) end(ctx context.Context, c *sdk.Call, in spaceArgs) (any, error) {
	got, err := s.get(ctx, c, in)
	if err != nil {
		return nil, err
	}
	name := got.(space).Name
	id, err := spaceID(name)
	if err != nil {
		return nil, err
	}
	_, err = s.Do(ctx, http.MethodPost, "/v2/spaces/"+id+":endActiveConference", nil, map[string]any{}, nil)
	return map[string]string{"ended": name}, err
}

func (s *service) conferences(ctx context.Context, _ *sdk.Call, in conferencesArgs) (any, error) {
	if in.Limit <= 0 {
		in.Limit = 25
	}
	q := page(in.Limit, 100, in.Token)
	var filters []string
	if in.Meeting != "" {
		id, err := spaceID(in.Meeting)
		if err != nil {
			return nil, err
		}
		if filters = []string{fmt.Sprintf("space.meeting_code = %q", id)}; strings.HasPrefix(strings.TrimSpace(in.Meeting), "spaces/") {
			filters = []string{fmt.Sprintf("space.name = %q", "spaces/"+id)}
		}
	}
	if in.Since != "" {
		if strings.ContainsAny(in.Since, "\"\\ ") {
			return nil, fmt.Errorf("since is %q; write it as 2026-11-28T00:00:00Z", in.Since)
		}
		filters = append(filters, fmt.Sprintf("start_time >= %q", in.Since))
	}
	if len(filters) > 0 {
		q.Set("filter", strings.Join(filters, " AND "))
	}
	var r struct {
		Records []struct {
			Name  string `json:"name"`
			Start string `json:"startTime"`
			End   string `json:"endTime,omitempty"`
			Space string `json:"space"`
		} `json:"conferenceRecords"`
		Next string `json:"nextPageToken,omitempty"`
	}
	err := s.list(ctx, "/v2/conferenceRecords", q, &r)
	return r, err
}

// participant is who took part.
type participant struct {
	Name     string `json:"name"`
	Start    string `json:"earliestStartTime"`
	End      string `json:"latestEndTime"`
	SignedIn *who   `json:"signedinUser"`
	Guest    *who   `json:"anonymousUser"`
	Phone    *who   `json:"phoneUser"`
}

type who struct {
	Shown string `json:"displayName"`
}

func (p participant) shown() (name, kind string) {
	for kind, w := range map[string]*who{"signed in": p.SignedIn, "guest": p.Guest, "phone": p.Phone} {
		if w != nil {
			return w.Shown, kind
		}
	}
	return "", ""
}

func (s *service) present(ctx context.Context, path, token string) (list []participant, next string, err error) {
	var r struct {
		Participants []participant `json:"participants"`
		Next         string        `json:"nextPageToken"`
	}
	err = s.list(ctx, path+"/participants", page(0, 250, token), &r)
	return r.Participants, r.Next, err
}

func (s *service) participants(ctx context.Context, _ *sdk.Call, in recordArgs) (any, error) {
	path, err := record(in.Record)
	if err != nil {
		return nil, err
	}
	list, next, err := s.present(ctx, path, in.Token)
	if err != nil {
		return nil, err
	}
	out := []map[string]string{}
	for _, p := range list {
		name, kind := p.shown()
		one := map[string]string{"name": name, "kind": kind, "from": p.Start}
		if p.End != "" {
			one["until"] = p.End
		}
		out = append(out, one)
	}
	return withNext(map[string]any{"participants": out}, next), nil
}

// withNext says where the next page begins.
func withNext(out map[string]any, token string) map[string]any {
	if token != "" {
		out["next_page_token"] = token
	}
	return out
}

func (s *service) recordings(ctx context.Context, _ *sdk.Call, in recordArgs) (any, error) {
	path, err := record(in.Record)
	if err != nil {
		return nil, err
	}
	var r struct {
		Recordings []struct {
			Name  string `json:"name"`
			State string `json:"state"`
			Start string `json:"startTime"`
			End   string `json:"endTime"`
			Drive struct {
				File string `json:"file"`
				URI  string `json:"exportUri"`
			} `json:"driveDestination"`
		} `json:"recordings"`
		Next string `json:"nextPageToken"`
	}
	if err := s.list(ctx, path+"/recordings", page(0, 100, in.Token), &r); err != nil {
		return nil, err
	}
	out := []map[string]string{}
	for _, one := range r.Recordings {
		out = append(out, map[string]string{"state": one.State, "from": one.Start, "until": one.End, "link": one.Drive.URI})
	}
	return withNext(map[string]any{"recordings": out}, r.Next), nil
}

// written is a transcript.
type written struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Docs  struct {
		URI string `json:"exportUri"`
	} `json:"docsDestination"`
}

// transcript returns the lines of a transcript with the names of who said them.
func (s *service) transcript(ctx context.Context, _ *sdk.Call, in transcriptArgs) (any, error) {
	path, err := record(in.Record)
	if err != nil {
		return nil, err
	}
	var all struct {
		Transcripts []written `json:"transcripts"`
	}
	if err := s.list(ctx, path+"/transcripts", page(0, 100, ""), &all); err != nil {
		return nil, err
	}
	if len(all.Transcripts) == 0 {
		return "No transcript was made of this call.", nil
	}
	i := 0
	if in.Transcript != "" {
		if i = slices.IndexFunc(all.Transcripts, func(w written) bool { return w.Name == in.Transcript }); i < 0 {
			return nil, fmt.Errorf("the call has no transcript %q", in.Transcript)
		}
	}
	one := all.Transcripts[i]
	id := one.Name[strings.LastIndexByte(one.Name, '/')+1:]
	if !recordPattern.MatchString(id) {
		return nil, fmt.Errorf("the name %q of the transcript cannot be used", one.Name)
	}
	var r struct {
		Entries []struct {
			Who   string `json:"participant"`
			Text  string `json:"text"`
			Start string `json:"startTime"`
		} `json:"transcriptEntries"`
		Next string `json:"nextPageToken"`
	}
	if err := s.list(ctx, path+"/transcripts/"+id+"/entries", page(0, 100, in.Token), &r); err != nil {
		return nil, err
	}
	names := map[string]string{}
	present, _, err := s.present(ctx, path, "")
	if err != nil {
		return nil, err
	}
	for _, p := range present {
		names[p.Name], _ = p.shown()
	}
	var b strings.Builder
	for _, e := range r.Entries {
		name := names[e.Who]
		if name == "" {
			name = "someone"
		}
		fmt.Fprintf(&b, "%s %s: %s\n", e.Start, name, e.Text)
	}
	out := map[string]any{"state": one.State, "document": one.Docs.URI, "lines": b.String()}
	if len(all.Transcripts) > 1 {
		var others []string
		for _, t := range all.Transcripts {
			others = append(others, t.Name)
		}
		out["transcripts"] = others
	}
	return withNext(out, r.Next), nil
}
