package demo

const opening = `This demo needs no key and no network. The model is scripted: a small server at
%s plays a written scenario. Everything else is real: the
agent, its tools, the files, the processes and the stored session.

Project: %s
Task:    %s

`

// ending takes the session id.
const ending = `
The session is stored as %[1]s. Look at it, search it or go on with it:

  hermes sessions show %[1]s
  hermes sessions search stats.sh
  hermes --resume %[1]s

`

const connect = `That model was a script and knows nothing else. To connect a real one, set a key
or point Hermes at any server that speaks Chat Completions, and start it:

  export OPENROUTER_API_KEY=…   (or OPENAI_API_KEY, ANTHROPIC_API_KEY and others)
  export OPENAI_BASE_URL=http://127.0.0.1:11434/v1   (a local server, for example Ollama)
  hermes model                  choose among what was found
  hermes                        start a conversation

`

// serving takes the base URL, the project's folder and the quoted prompt.
const serving = `The scripted model of the demo listens at %[1]s (no key needed).
It plays one scenario, for clients that offer the tools patch, read_file, search_files
and terminal. A fresh copy of the sample project stands in %[2]s.

Ask it directly:
  curl -sN %[1]s/chat/completions -H 'Content-Type: application/json' \
    -d '{"model":"hermes-demo","stream":true,"messages":[{"role":"user","content":"hello"}]}'

Let Hermes play the scenario:
  cd %[2]s
  OPENAI_BASE_URL=%[1]s OPENAI_API_KEY=none hermes -m hermes-demo -z %[3]s

Point any other client of the OpenAI protocol at it:
  export OPENAI_BASE_URL=%[1]s
  export OPENAI_API_KEY=none

Stop with Ctrl+C.
`
