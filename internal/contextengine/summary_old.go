package contextengine

import (
	"strings"

	"hermes"
)

// Wordings of the frame in summaries that were stored without [hermes.Anchors].
// Only these are read from a text, so they never change.
const (
	oldSummaryHead  = "[SUMMARY OF EARLIER TURNS. It is a record, not a new request: what it lists as done is done. Go on from the messages below it.]"
	oldRequestsHead = "## What the person asked for, word for word, oldest first"
	oldWithinNote   = "(Part of what stands above was done for the newest message of the person, which has its place outside of this summary.)"
)

// oldSummary reports whether a part is a summary that was stored without anchors.
func oldSummary(m hermes.Message, p hermes.Part) bool {
	return (m.Synthetic || p.Hidden) && strings.HasPrefix(p.Text, oldSummaryHead)
}

// readOld reads the anchors of a summary that was stored without them. Its lists
// are the last ones of the text, because the model's words come before them.
func readOld(text string) hermes.Anchors {
	var s hermes.Anchors
	body, _, _ := cutLast(text[len(oldSummaryHead):], summaryEnd)
	for _, note := range []string{withinNote, oldWithinNote} {
		body = strings.Replace(body, "\n"+note+"\n", "", 1)
	}
	var open, files, requests string
	body, open, _ = cutLast(body, "\n"+openHead+"\n")
	body, files, _ = cutLast(body, "\n"+filesHead+"\n")
	body, requests, found := cutLast(body, "\n"+requestsHead+"\n")
	if !found {
		body, requests, _ = cutLast(body, "\n"+oldRequestsHead+"\n")
	}
	for _, line := range items(open) {
		if t, ok := openItem(line); ok {
			s.Open = append(s.Open, t)
		}
	}
	s.Words, s.Files, s.Requests = strings.TrimSpace(body), items(files), items(requests)
	return s
}

// cutLast is strings.Cut at the last place.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func items(list string) []string {
	var out []string
	for line := range strings.Lines(list) {
		if it, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "- "); ok {
			out = append(out, it)
		}
	}
	return out
}
