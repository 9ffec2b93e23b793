package terminal

import (
	"fmt"
	"slices"
	"strings"
)

// Bounds of what is told of background processes.
const (
	maxNamed    = 5  // processes
	namedLength = 60 // characters of a command
)

// What the notes say; Restore reads them again in a transcript.
const (
	runBehind   = "running in the background: "
	endedBehind = "ended in the background: "
	nothingRuns = "nothing runs in the background any more"
)

// News tells what changed among the background processes since it last told:
// which ones run now, which ended without a word to the model, and which an earlier run of the
// program took with it. It is ""
// where nothing did, and never long.
func (t *Toolset) News() string {
	var running, ended, ids []string
	jobs := t.all()
	slices.SortStableFunc(jobs, func(a, b *job) int { return a.started.Compare(b.started) })
	for _, j := range jobs {
		switch {
		case !j.over():
			ids = append(ids, j.id)
			running = append(running, fmt.Sprintf("%s (%s)", j.id, j.short()))
		case j.untold():
			ended = append(ended, fmt.Sprintf("%s (%s, exit code %d)", j.id, j.short(), j.exit.Code))
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
		news = append(news, gone+named(lost))
	}
	if len(ended) > 0 {
		news = append(news, endedBehind+named(ended))
	}
	switch {
	case slices.Equal(ids, before):
	case len(ids) > 0:
		news = append(news, runBehind+named(running))
	case len(ended) == 0:
		news = append(news, nothingRuns)
	}
	return strings.Join(news, "; ")
}

// named lists a few and counts the rest.
func named(list []string) string {
	if len(list) <= maxNamed {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxNamed], ", "), len(list)-maxNamed)
}

// short is the command on one line.
func (j *job) short() string {
	return shorten(strings.Join(strings.Fields(j.command), " "), namedLength)
}

// untold reports whether the model does not know of the end yet and gets no
// notice of it, and takes it as told from now on.
func (j *job) untold() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	untold := !j.reported && !j.notify
	j.reported = true
	return untold
}
