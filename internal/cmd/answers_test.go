package cmd_test

import (
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// TestAnswersThatAreNotWhole goes through the whole program: what is printed, what
// is an error, and how often the model is asked.
func TestAnswersThatAreNotWhole(t *testing.T) {
	t.Parallel()
	cut := chatserver.Answer{Text: "one ", Finish: "length"}
	for name, tt := range map[string]struct {
		answers []chatserver.Answer
		status  int
		out     string
		errs    string
	}{
		"half-marked thinking":    {[]chatserver.Answer{{Text: "I should greet.\n</think>\n\nHello"}}, 0, "Hello\n", ""},
		"a tag in a code block":   {[]chatserver.Answer{{Text: "```\n</think>\n```"}}, 0, "```\n</think>\n```\n", ""},
		"only thinking, once":     {[]chatserver.Answer{{Reasoning: "hm"}, {Text: "Hello"}}, 0, "Hello\n", ""},
		"thinking until the end":  {[]chatserver.Answer{{Reasoning: "hm", Finish: "length"}, {Text: "<think>hm", Finish: "length"}}, 1, "", "output limit before it answered"},
		"cut four times":          {[]chatserver.Answer{cut, cut, cut, cut}, 0, "one one one one \n\n[This answer is not complete: the output limit cut it off. Say \"go on\" to continue.]\n", ""},
		"an answer without end":   {[]chatserver.Answer{{Text: strings.Repeat("-\n", 5000)}, {Text: strings.Repeat("-\n", 5000)}}, 1, "", `because it repeated "-\n"`},
		"without end, then whole": {[]chatserver.Answer{{Text: strings.Repeat("-\n", 5000)}, {Text: "Hello"}}, 0, "Hello\n", ""},
		"a large table":           {[]chatserver.Answer{{Text: strings.Repeat("| 0 | 0 |\n", 2000) + "."}}, 0, strings.Repeat("| 0 | 0 |\n", 2000) + ".\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
				asked++
				return tt.answers[min(asked, len(tt.answers))-1], nil
			})...)
			p.configure("title_generation: {enabled: false}\n")
			out, errs, status := p.run("-z", "go", "-m", "played", "-t", "todo")
			if status != tt.status || out != tt.out || !strings.Contains(errs, tt.errs) {
				t.Errorf("status %d: %.300q\n%s", status, out, errs)
			}
			if asked != len(tt.answers) {
				t.Errorf("asked %d times, want %d", asked, len(tt.answers))
			}
		})
	}
}
