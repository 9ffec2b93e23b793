package terminal

import (
	"fmt"
	"slices"
	"strings"

	"hermes/internal/text"
)

// Limits of the report on background processes.
const (
	maxNamed    = 5  // processes
	namedLength = 60 // characters of a command
)

// Texts of the report. Restore looks for them in stored transcripts, so they
// must not change.
const (
	runningNote = "running in the background: "
	endedNote   = "ended in the background: "
	noneNote    = "nothing runs in the background any more"
)

// news is [Toolset.News] for one session.
func (t *shellOf) news() string {
	var running, ended, ids []string
	jobs := t.all()
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.started.Compare(b.started) })
	for _, j := range jobs {
		switch {
		case !j.over():
			ids = append(ids, j.id)
			running = append(running, fmt.Sprintf("%s (%s)", j.id, j.short()))
		case j.unreported():
			ended = append(ended, fmt.Sprintf("%s (%s, exit code %d%s)", j.id, j.short(), j.exit.Code, j.blocked()))
		}
	}
	slices.Sort(ids)
	t.mu.Lock()
	before := t.said
	t.said = ids
	lost := t.lost
	t.lost = nil
	t.mu.Unlock()
	var news []string
	if len(lost) > 0 {
		news = append(news, lostNote+named(lost))
	}
	if len(ended) > 0 {
		news = append(news, endedNote+named(ended))
	}
	switch {
	case slices.Equal(ids, before):
	case len(ids) > 0:
		news = append(news, runningNote+named(running))
	case len(ended) == 0:
		news = append(news, noneNote)
	}
	return strings.Join(news, "; ")
}

// named lists the first few and counts the rest.
func named(list []string) string {
	if len(list) <= maxNamed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), len(list)-maxNamed)
}

// short is the command on one line.
func (j *job) short() string {
	return text.Line(j.command, namedLength)
}

// blocked says in few words what the walls refused, "" for nothing.
func (j *job) blocked() string {
	list, _ := blocked(j.exit.Refused)
	if len(list) == 0 {
		return ""
	}
	return ", blocked: " + text.Line(named(list), 2*namedLength)
}

// unreported reports whether the model does not know of the end yet and gets no
// notice of it. It marks the end as reported.
func (j *job) unreported() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	unreported := !j.reported && !j.notify
	j.reported = true
	return unreported
}
