package demo

import (
	"strings"

	"hermes/internal/markup"
)

// opening takes the base URL and the folder.
const opening = `This demo needs no key and no network. The model is scripted: a small server at %s plays a written scenario. Everything else is real: the agent, its tools, the files and processes, memory, skills and the stored sessions.

It all stands in %s, with a home of its own: yours is left as it is.
`

// said takes the number of a session and what the person says in it.
const said = `
%s session. You say:

  › %s
`

// asking takes the tool and the answer.
const asking = "\n▌ May %s keep something? The session has read files and commands, so what stays after it needs your leave. The demo answers for you: %s.\n"

const between = "\n" + `Now a new session, which has seen nothing of this one. All it can know is what was kept.` + "\n"

// changed takes the file and the number of lines.
const changed = `
Changed: %s
`

// ending takes the home and the id of the first session.
const ending = `
Both sessions, the note and the skill are still there. Look at them:

  export HERMES_HOME=%[1]s
  hermes sessions show %[2]s
  hermes sessions search stats.sh
  hermes memory list
  hermes skills show mend-failing-tests

`

const connect = `That model was a script and knows nothing else. To connect a real one, set a key or point Hermes at any server that speaks Chat Completions, and start it:

  unset HERMES_HOME
  export OPENROUTER_API_KEY=…
  export OPENAI_BASE_URL=http://127.0.0.1:11434/v1
  hermes model
  hermes

OPENAI_API_KEY, ANTHROPIC_API_KEY and others do as well; the address stands for a local server, here Ollama. hermes model chooses among what was found.
`

// serving takes the base URL, the project's folder, the quoted prompt, and the home.
const serving = `The scripted model of the demo listens at %[1]s (no key needed).
It plays one scenario, for clients that offer the tools patch, read_file, search_files
and terminal. A fresh copy of the sample project stands in %[2]s.

Ask it directly:
  curl -sN %[1]s/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"hermes-demo","stream":true,"messages":[{"role":"user","content":"hello"}]}'

Let Hermes play the scenario, in a home of its own:
  cd %[2]s
  export HERMES_HOME=%[4]s OPENAI_BASE_URL=%[1]s OPENAI_API_KEY=none
  hermes -m hermes-demo -z %[3]s
  hermes memory approve all; hermes skills approve all
  hermes -m hermes-demo -z %[5]s

Point any other client of the OpenAI protocol at it:
  export OPENAI_BASE_URL=%[1]s
  export OPENAI_API_KEY=none

Stop with Ctrl+C.
`

// fold breaks the paragraphs of a text at a width. Lines that are indented are commands and stay
// whole, except for those that quote the person.
func fold(text string, width int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if indent != "" && !strings.HasPrefix(line, indent+"›") || markup.Width(line) <= width {
			b.WriteString(line + "\n")
			continue
		}
		if indent != "" {
			indent += "  "
		}
		row := ""
		for word := range strings.FieldsSeq(line) {
			switch {
			case row == "":
				row = strings.TrimSuffix(indent, "  ") + word
			case markup.Width(row)+1+markup.Width(word) > width:
				b.WriteString(row + "\n")
				row = indent + word
			default:
				row += " " + word
			}
		}
		b.WriteString(row + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
