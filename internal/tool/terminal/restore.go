package terminal

import (
	"encoding/json"
	"slices"
	"strings"

	"hermes"
)

// gone begins the note on processes that an earlier run of the program began.
const gone = "no longer running, since the program that had begun them ended: "

// Restore learns from a transcript which background processes the model takes
// for running although the run of the program that had begun them is over, so
// that News tells of them once. It is called before the session runs.
func (t *Toolset) Restore(transcript []hermes.Message) {
	commands := map[string]string{} // by call
	var ids []string
	lost := map[string]string{}
	for _, m := range transcript {
		for _, c := range m.Calls {
			var a arguments
			if c.Name == "terminal" && json.Unmarshal([]byte(c.Arguments), &a) == nil && a.Behind {
				commands[c.ID] = a.Command
			}
		}
		var r report
		switch {
		case m.Role == hermes.RoleUser:
			forget(lost, m.Text())
		case m.Role != hermes.RoleTool || json.Unmarshal([]byte(m.Text()), &r) != nil || r.ID == "":
		case m.ToolName == "terminal" && r.Status == "running" && commands[m.CallID] != "":
			lost[r.ID] = shorten(strings.Join(strings.Fields(commands[m.CallID]), " "), namedLength)
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

// forget takes out what a note to the model said the end of.
func forget(lost map[string]string, note string) {
	if strings.Contains(note, gone) || strings.Contains(note, nothingRuns) {
		clear(lost)
	}
	_, ended, _ := strings.Cut(note, endedBehind)
	ended, _, _ = strings.Cut(ended, runBehind) // what follows runs on
	for id := range lost {
		if strings.Contains(ended, id) || strings.Contains(note, "Background process "+id+" completed") {
			delete(lost, id)
		}
	}
}
