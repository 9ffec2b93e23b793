package demo

import (
	"strings"

	"hermes/internal/markup"
)

// opening takes the base URL and the folder.
const opening = `This demo needs no key and no network. The model is scripted: a small server at %s plays a fixed scenario. Everything else is real: the agent, its tools, files, processes, memory, skills and stored sessions.

Everything is in %s, with its own Hermes home. Your home is not changed.
`

// said takes the number of a session and the message of the user.
const said = `
%s session. You say:

  › %s
`

// asking takes the tool and the answer.
const asking = "\n▌ Allow %s to make this change? The session has read files and command output, so changes for later sessions need your approval. The demo answers for you: %s.\n"

const between = "\n" + `Now a new session. It knows nothing of the first one except what was kept.` + "\n"

// changed takes the file and the number of lines.
const changed = `
Changed: %s
`

// ending takes the home and the id of the first session.
const ending = `
Both sessions, the note and the skill are kept. Look at them:

  export HERMES_HOME=%[1]s
  hermes sessions show %[2]s
  hermes sessions search stats.sh
  hermes memory list
  hermes skills show fix-failing-tests

`

const connect = `That model was a script. To use a real one, set a key, or the address of any Chat Completions server, and start Hermes:

  unset HERMES_HOME
  export OPENROUTER_API_KEY=…
  export OPENAI_BASE_URL=http://127.0.0.1:11434/v1
  hermes model
  hermes

OPENAI_API_KEY, ANTHROPIC_API_KEY and others work too. The address is an example for a local server (Ollama). The command hermes model lists what it finds and lets you choose.
`

// serving takes the base URL, the project's folder, the two quoted prompts and the home.
const serving = `The scripted model of the demo listens at %[1]s (no key needed).
It plays one scenario, for clients with the tools patch, read_file, search_files
and terminal. A new copy of the sample project is in %[2]s.

Ask it directly:
  curl -sN %[1]s/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"hermes-demo","stream":true,"messages":[{"role":"user","content":"hello"}]}'

Run the scenario with Hermes, in a separate home:
  cd %[2]s
  export HERMES_HOME=%[4]s OPENAI_BASE_URL=%[1]s OPENAI_API_KEY=none
  hermes -m hermes-demo -z %[3]s
  hermes memory approve all; hermes skills approve all
  hermes -m hermes-demo -z %[5]s

Use it with any other client of the OpenAI protocol:
  export OPENAI_BASE_URL=%[1]s
  export OPENAI_API_KEY=none

Stop with Ctrl+C.
`

// fold wraps the paragraphs of a text at a width. Indented lines are commands and are not wrapped,
// except for quotes of the user.
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
