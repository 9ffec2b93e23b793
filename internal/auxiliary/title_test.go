package auxiliary_test

import (
	"testing"

	"hermes/internal/auxiliary"
)

// TestTitlesKeepWhatBelongsToThem: signs at the ends of a title are part of it,
// unless they enclose it.
func TestTitlesKeepWhatBelongsToThem(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		// JSON, as a parser reads it.
		`{"title": "Say \"hello\" in C\u0023"}`:                `Say "hello" in C#`,
		`{"title": "Tür auf \u00fc \ud83d\ude00"}`:             "Tür auf ü 😀",
		`{"reason": "the \"title\": x", "title": "Fix login"}`: "Fix login",
		`{"Title": "Fix login"} I hope this helps.`:            "Fix login",
		`{"result": {"title": "Fix login"}}`:                   "Fix login",
		`{"title": "a, } and { in it"}`:                        "a, } and { in it",
		`{"title": "C:\\temp is full"}`:                        `C:\temp is full`,
		`["Fix login"]`:                                        "Fix login",
		`[{"title": "Fix login"}]`:                             "Fix login",
		`"Fix \"login\" now"`:                                  `Fix "login" now`,
		"```\n{\n  \"title\": \"Fix login\"\n}\n```":           "Fix login",
		`{"title": "Fix login`:                                 "",
		`{"title": 7}`:                                         "",
		`{"title": null, "text": "x"}`:                         "",
		`{"text": "title"}`:                                    "",
		`{"title": {"text": "x"}}`:                             "",
		`{{ mustache }} templates`:                             "{{ mustache }} templates",
		"json parser crashes":                                  "json parser crashes",
		"```json parser crashes```":                            "json parser crashes",
		"[WIP] Fix login":                                      "[WIP] Fix login",
		"[WIP]":                                                "[WIP]",
		"Fix login [draft]":                                    "Fix login [draft]",
		"[1] [2] references":                                   "[1] [2] references",
		"Learn C#":                                             "Learn C#",
		"C# or F#":                                             "C# or F#",
		"C#":                                                   "C#",
		"#42 crash on start":                                   "#42 crash on start",
		"# Fix login":                                          "Fix login",
		"## Fix login ##":                                      "Fix login",
		"__init__ is not called":                               "__init__ is not called",
		"Call of __init__":                                     "Call of __init__",
		"__init__":                                             "__init__",
		"_private":                                             "_private",
		"__Fix login loop__":                                   "Fix login loop",
		"*Fix login*":                                          "Fix login",
		"***Fix login***":                                      "Fix login",
		"*args and **kwargs":                                   "*args and **kwargs",
		"**kwargs":                                             "**kwargs",
		"`go vet` warnings":                                    "`go vet` warnings",
		"Warnings of `go vet`":                                 "Warnings of `go vet`",
		"`go vet` or `go test`":                                "`go vet` or `go test`",
		"`Fix login`":                                          "Fix login",
		`"Foo" or "bar"`:                                       `"Foo" or "bar"`,
		`"Fix login`:                                           "Fix login",
		`Fix login"`:                                           "Fix login",
		"«Fix login»":                                          "Fix login",
		"„Anmeldung reparieren“":                               "Anmeldung reparieren",
		"'Fix login'":                                          "Fix login",
		"Users' rights":                                        "Users' rights",
		"Title: [WIP] C#":                                      "[WIP] C#",
		"**Title**: __init__ fails":                            "__init__ fails",

		// Invisible characters, at the ends and within.
		"\u200b\"Fix login\"\u200b":        "Fix login",
		"\ufeff{\"title\": \"Fix login\"}": "Fix login",
		"\u2060Title:\u200b Fix login":     "Fix login",
		"\u200b\n\u2063\nFix login":        "Fix login",
		"Fix\u00adlo\u034fgin\u3164":       "Fixlogin",
		"Fix \u2800 login\U000e0041":       "Fix login",
		"Fix\u115f\u180e login\ufe0f":      "Fix login",
		"\u200b\u2800\u3164":               "",
		"می\u200cخواهم":                    "میخواهم",

		// Titles in the form of sentences, and sentences that are none.
		"How do I exit vim?":                               "How do I exit vim?",
		"Why does the build fail?":                         "Why does the build fail?",
		"I can't log in to GitHub":                         "I can't log in to GitHub",
		"I need a recipe for pancakes":                     "I need a recipe for pancakes",
		"The user table migration fails":                   "The user table migration fails",
		"The user interface of the shop":                   "The user interface of the shop",
		"OK Computer listening notes":                      "OK Computer listening notes",
		"Let me in: door lock of the office":               "Let me in: door lock of the office",
		"Sorry page does not load":                         "Sorry page does not load",
		"Based on Debian: image build":                     "Based on Debian: image build",
		"Fix the login redirect.":                          "Fix the login redirect",
		"Wait for it...":                                   "Wait for it...",
		"Upgrade of Node v. 18 to v. 20 on the old server": "Upgrade of Node v. 18 to v. 20 on the old server",
		"Of course pages: layout":                          "Of course pages: layout",
		"Sure, fixing the login":                           "",
		"Okay, the login is fixed now":                     "",
		"Certainly! Fix login":                             "",
		"Here is a title":                                  "",
		"Here's your title: Fix login":                     "",
		"The user wants to fix the login":                  "",
		"The user asked about pancakes":                    "",
		"I'm sorry, but I can't help with that":            "",
		"I cannot create this":                             "",
		"I think it is about a login":                      "",
		"Let me think about it":                            "",
		"We need to write a short title":                   "",
		"This conversation covers logins":                  "",
		"Based on the conversation: login":                 "",
		"As an AI, I have no title":                        "",
		"Fixed the login. Then the cookie was set again":   "",
	} {
		if got := auxiliary.CleanTitle(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
