package demo

import (
	"strings"

	"hermes/internal/chatserver"
)

// What the scripted model says outside the script. It never pretends to understand.
const (
	invitation = "I am a scripted model: I can play one task and cannot think. " +
		"In the sample project of `hermes demo`, say: \"The tests fail. Find out why and fix it.\"\n"
	epilogue = "My script ends here. I am a scripted model and cannot answer anything else; " +
		"for real work connect a real one with `hermes model`.\n"
	title      = "Fix the failing log report tests"
	titleAgain = "Look up what was wrong with the log report"
)

// sideAnswer answers a request without the tools that the act needs.
func sideAnswer(r *chatserver.Request, s scene, a act) string {
	switch {
	case wantsTitle(r):
		return title
	case s.step != "":
		return "So far I have worked on the failing tests of the sample project; the last step was \"" + s.step +
			"\". I am a scripted model and continue when the tools are offered again.\n"
	case len(r.Tools) == 0:
		return invitation
	}
	return "I am a scripted model and play one scenario. It needs the tools " + strings.Join(a.needs, ", ") +
		" (todo, memory and skill_manage are optional). This request does not offer all of them.\n"
}

// wantsTitle recognizes a request for a title of the conversation.
func wantsTitle(r *chatserver.Request) bool {
	if len(r.Tools) > 0 {
		return false
	}
	for _, m := range r.Messages {
		if strings.Contains(strings.ToLower(m.Text()), "title") {
			return true
		}
	}
	return false
}

// lost is the answer to results that the script does not expect.
func lost(s scene) string {
	last := "nothing"
	if len(s.results) > 0 {
		last = strings.TrimSpace(s.results[len(s.results)-1])
	}
	const most = 600
	if runes := []rune(last); len(runes) > most {
		last = string(runes[:most]) + " …"
	}
	return "This did not go as my script expects, and a scripted model cannot think of another way. " +
		"The last result was:\n\n```\n" + last + "\n```\n\n" +
		"The script needs the sample project (`hermes demo` creates it) and a POSIX shell. " +
		"When that is fixed, say \"go on\".\n"
}

// unknown is the answer if the script needs a fact that is missing.
func unknown(fact string) string {
	where := map[string]string{
		"note": "a note on this project in my memory", "command": "a command in the note on this project",
		"skill": "a skill for failing tests in the list of skills", "advice": "the steps of the skill",
		"session": "an earlier session about this", "found": "what was said in the earlier session",
	}[fact]
	if where == "" {
		where = "the " + fact
	}
	return "This did not go as my script expects: I need " + where + ", but the request does not have it. " +
		"I am a scripted model and make nothing up.\n"
}
