package terminal

import (
	"encoding/json"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/text"
)

// lostNote begins the report on processes of an earlier run of the program.
// Stored transcripts are searched for it, and for its wording in version 0.1.0.
const (
	lostNote  = "no longer running, because the program that started them has ended: "
	lostNote1 = "no longer running, since the program that had begun them ended: "
)

// restore is [Toolset.Restore] for one session.
func (t *shellOf) restore(transcript []hermes.Message) {
	commands := map[string]string{} // by call
	var ids []string
	lost := map[string]string{}
	for _, m := range transcript {
		for _, c := range m.Calls {
			var a arguments
			if c.Name == "terminal" && json.Unmarshal([]byte(c.Arguments), &a) == nil && a.Background {
				commands[c.ID] = a.Command
			}
		}
		var r report
		switch {
		case m.Role == hermes.RoleUser:
			forget(lost, m.Text())
		case m.Role != hermes.RoleTool || json.Unmarshal([]byte(m.Text()), &r) != nil || r.ID == "":
		case m.ToolName == "terminal" && r.Status == "running" && commands[m.CallID] != "":
			lost[r.ID] = text.Line(commands[m.CallID], namedLength)
			ids = append(ids, r.ID)
		case m.ToolName == "process" && r.Status != "" && r.Status != "running":
			delete(lost, r.ID)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = nil
	for _, id := range ids {
		if command, ok := lost[id]; ok && !slices.ContainsFunc(t.jobs, func(j *job) bool { return j.id == id }) {
			t.lost = append(t.lost, id+" ("+command+")")
		}
	}
}

// forget removes the processes whose end a note already reported to the model.
func forget(lost map[string]string, note string) {
	if strings.Contains(note, lostNote) || strings.Contains(note, lostNote1) || strings.Contains(note, noneNote) {
		clear(lost)
	}
	_, ended, _ := strings.Cut(note, endedNote)
	ended, _, _ = strings.Cut(ended, runningNote) // what follows still runs
	for id := range lost {
		if strings.Contains(ended, id) || strings.Contains(note, "Background process "+id+" completed") {
			delete(lost, id)
		}
	}
}
