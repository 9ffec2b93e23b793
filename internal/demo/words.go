package demo

import (
	"strings"

	"hermes/internal/chatserver"
)

// What the scripted model says when the script has no line. It never pretends to understand.
const (
	invitation = "I am a scripted model: I know one piece of work by heart and cannot think. " +
		"In the sample project of `hermes demo`, say: \"The tests fail. Find out why and fix it.\"\n"
	epilogue = "My script ends here. I am a scripted model and cannot answer anything else; " +
		"for real work connect a real one with `hermes model`.\n"
	title      = "Fix the failing log report tests"
	titleAgain = "Look up what was wrong with the log report"
)

// sideAnswer answers a request that offers no tools, or others than the act needs.
func sideAnswer(r *chatserver.Request, s scene, a act) string {
	switch {
	case wantsTitle(r):
		return title
	case s.step != "":
		return "So far I have worked on the failing tests of the sample project; the last step was \"" + s.step +
			"\". I am a scripted model and go on when the tools are offered again.\n"
	case len(r.Tools) == 0:
		return invitation
	}
	return "I am a scripted model and play one scenario, for which I need the tools " + strings.Join(a.needs, ", ") +
		" (and todo, memory and skill_manage, if they are there). This request does not offer them all.\n"
}

// wantsTitle recognizes the side request in which a client asks for a title of the conversation.
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

// lost says what came instead of what the script expects.
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
		"The script needs the sample project (`hermes demo` lays it out) and a POSIX shell. " +
		"When that is mended, say \"go on\".\n"
}

// unknown says that a fact is missing which the script wants to speak of.
func unknown(fact string) string {
	where := map[string]string{
		"note": "a note on this project in my memory", "command": "a command in the note on this project",
		"skill": "a skill for failing tests in the list of skills", "advice": "the steps of the skill",
		"session": "an earlier session about this", "told": "what was said in the earlier session",
	}[fact]
	if where == "" {
		where = "the " + fact
	}
	return "This did not go as my script expects: I look for " + where + " and was not given it. " +
		"I am a scripted model and make nothing up.\n"
}
