package law_test

// row places one package in the house.
type row struct {
	floor int
	path  string // folder, relative to the module root
	// deps names the modules from outside that an instrument (floor 1) may import. Other floors
	// are not limited here: go.mod and review decide.
	deps []string
}

// floors is the plan of the house. A package imports lower floors only, and packages on one
// floor do not know each other. Keep the rows sorted by floor, then by name.
var floors = []row{
	// The vocabulary.
	{floor: 0, path: "."},

	// Instruments: values in, values out; they do not know what Hermes is.
	{floor: 1, path: "hermestest", deps: []string{"github.com/google/go-cmp"}},
	{floor: 1, path: "hermestest/faultserver"},
	{floor: 1, path: "internal/atomicfile", deps: []string{"github.com/gofrs/flock"}},
	{floor: 1, path: "internal/chatserver"},
	{floor: 1, path: "internal/compose"},
	{floor: 1, path: "internal/dotenv"},
	{floor: 1, path: "internal/errsig"},
	{floor: 1, path: "internal/fault"},
	{floor: 1, path: "internal/home"},
	{floor: 1, path: "internal/htmltext", deps: []string{"golang.org/x/net"}},
	{floor: 1, path: "internal/httpc"},
	{floor: 1, path: "internal/ioerr"},
	{floor: 1, path: "internal/jsonrepair"},
	{floor: 1, path: "internal/keychain", deps: []string{"github.com/zalando/go-keyring"}},
	{floor: 1, path: "internal/law"},
	{floor: 1, path: "internal/logfile"},
	{floor: 1, path: "internal/markup", deps: []string{"github.com/yuin/goldmark"}},
	{floor: 1, path: "internal/modelinfo"},
	{floor: 1, path: "internal/netguard", deps: []string{"golang.org/x/net"}},
	{floor: 1, path: "internal/oauth"},
	{floor: 1, path: "internal/oauthserver"},
	{floor: 1, path: "internal/patch"},
	{floor: 1, path: "internal/pick", deps: []string{"golang.org/x/term"}},
	{floor: 1, path: "internal/picture"},
	{floor: 1, path: "internal/policy"},
	{floor: 1, path: "internal/policy/shell", deps: []string{"mvdan.cc/sh/v3"}},
	{floor: 1, path: "internal/proc", deps: []string{"golang.org/x/sys"}},
	{floor: 1, path: "internal/recallblock"},
	{floor: 1, path: "internal/redact"},
	{floor: 1, path: "internal/schema"},
	{floor: 1, path: "internal/search"},
	{floor: 1, path: "internal/skill/guard"},
	{floor: 1, path: "internal/sse"},
	{floor: 1, path: "internal/texttool"},
	{floor: 1, path: "internal/tokens"},
	{floor: 1, path: "internal/usage"},
	{floor: 1, path: "internal/yamledit", deps: []string{"go.yaml.in/yaml/v3"}},

	// Rooms: the vocabulary and instruments only.
	{floor: 2, path: "bench/instant"},
	{floor: 2, path: "internal/agent"},
	{floor: 2, path: "internal/auxiliary"},
	{floor: 2, path: "internal/config"},
	{floor: 2, path: "internal/contextengine"},
	{floor: 2, path: "internal/credential"},
	{floor: 2, path: "internal/environment"},
	{floor: 2, path: "internal/hook/learning"},
	{floor: 2, path: "internal/learning"},
	{floor: 2, path: "internal/memory"},
	{floor: 2, path: "internal/prefixwatch"},
	{floor: 2, path: "internal/prompt"},
	{floor: 2, path: "internal/reference"},
	{floor: 2, path: "internal/skill"},
	{floor: 2, path: "internal/skill/hub"},
	{floor: 2, path: "internal/spend"},
	{floor: 2, path: "internal/store/sqlite"},
	{floor: 2, path: "internal/tool/clarify"},
	{floor: 2, path: "internal/tool/file"},
	{floor: 2, path: "internal/tool/learning"},
	{floor: 2, path: "internal/tool/sessionsearch"},
	{floor: 2, path: "internal/tool/skills"},
	{floor: 2, path: "internal/tool/terminal"},
	{floor: 2, path: "internal/tool/todo"},
	{floor: 2, path: "internal/toolbox"},
	{floor: 2, path: "internal/transcript"},
	{floor: 2, path: "internal/transport/anthropic"},
	{floor: 2, path: "internal/transport/base"}, // the ground that internal/transport/* stand on
	{floor: 2, path: "internal/transport/bedrock"},
	{floor: 2, path: "internal/transport/chat"},
	{floor: 2, path: "internal/transport/gemini"},
	{floor: 2, path: "internal/transport/ollama"},
	{floor: 2, path: "internal/transport/responses"},
	{floor: 2, path: "internal/undo"},

	{floor: 3, path: "internal/provider"},
	{floor: 3, path: "internal/replay"},
	{floor: 3, path: "internal/session"},

	{floor: 4, path: "internal/command"},

	// Faces: they reach the agent through the session only.
	{floor: 5, path: "internal/demo"},
	{floor: 5, path: "internal/review"},
	{floor: 5, path: "internal/tui"},

	// Composition.
	{floor: 6, path: "internal/app"},
	{floor: 6, path: "internal/setup"},

	// Commands: a folder a noun.
	{floor: 8, path: "internal/cmd"},
	{floor: 9, path: "hermescmd"},

	// Programs.
	{floor: 10, path: "bench/floor"},
	{floor: 10, path: "bench/hermes-bench"},
	{floor: 10, path: "cmd/hermes"},
}

// nouns is the floor of the folders below internal/cmd, one for each noun of the command line.
// They need no row of their own: what they may do is the same for all of them.
const nouns = 7
