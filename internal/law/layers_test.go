package law_test

// row places one package in the house.
type row struct {
	layer int
	path  string // folder, relative to the module root
	// deps names the modules from outside that an instrument (layer 1) may import. Other layers
	// are not limited here: go.mod and review decide.
	deps []string
}

// layers is the plan of the house. A package imports lower layers only, and packages on one
// layer do not know each other. Keep the rows sorted by layer, then by name.
var layers = []row{
	// The vocabulary.
	{layer: 0, path: "."},

	// Instruments: values in, values out; they do not know what Hermes is.
	{layer: 1, path: "hermestest", deps: []string{"github.com/google/go-cmp"}},
	{layer: 1, path: "hermestest/faultserver"},
	{layer: 1, path: "internal/atomicfile", deps: []string{"github.com/gofrs/flock"}},
	{layer: 1, path: "internal/chatserver"},
	{layer: 1, path: "internal/compose"},
	{layer: 1, path: "internal/dotenv"},
	{layer: 1, path: "internal/errsig"},
	{layer: 1, path: "internal/fault"},
	{layer: 1, path: "internal/home"},
	{layer: 1, path: "internal/htmltext", deps: []string{"golang.org/x/net"}},
	{layer: 1, path: "internal/httpc"},
	{layer: 1, path: "internal/ioerr"},
	{layer: 1, path: "internal/jsonrepair"},
	{layer: 1, path: "internal/keychain", deps: []string{"github.com/zalando/go-keyring"}},
	{layer: 1, path: "internal/law"},
	{layer: 1, path: "internal/logfile"},
	{layer: 1, path: "internal/markup", deps: []string{"github.com/yuin/goldmark"}},
	{layer: 1, path: "internal/modelinfo"},
	{layer: 1, path: "internal/netguard", deps: []string{"golang.org/x/net"}},
	{layer: 1, path: "internal/oauth"},
	{layer: 1, path: "internal/oauthserver"},
	{layer: 1, path: "internal/patch"},
	{layer: 1, path: "internal/pick", deps: []string{"golang.org/x/term"}},
	{layer: 1, path: "internal/picture"},
	{layer: 1, path: "internal/policy"},
	{layer: 1, path: "internal/policy/shell", deps: []string{"mvdan.cc/sh/v3"}},
	{layer: 1, path: "internal/proc", deps: []string{"golang.org/x/sys"}},
	{layer: 1, path: "internal/recallblock"},
	{layer: 1, path: "internal/redact"},
	{layer: 1, path: "internal/schema"},
	{layer: 1, path: "internal/search"},
	{layer: 1, path: "internal/skill/guard"},
	{layer: 1, path: "internal/sse"},
	{layer: 1, path: "internal/texttool"},
	{layer: 1, path: "internal/tokens"},
	{layer: 1, path: "internal/usage"},
	{layer: 1, path: "internal/yamledit", deps: []string{"go.yaml.in/yaml/v3"}},

	// Rooms: the vocabulary and instruments only.
	{layer: 2, path: "bench/instant"},
	{layer: 2, path: "internal/agent"},
	{layer: 2, path: "internal/auxiliary"},
	{layer: 2, path: "internal/config"},
	{layer: 2, path: "internal/contextengine"},
	{layer: 2, path: "internal/credential"},
	{layer: 2, path: "internal/environment"},
	{layer: 2, path: "internal/hook/learning"},
	{layer: 2, path: "internal/learning"},
	{layer: 2, path: "internal/memory"},
	{layer: 2, path: "internal/prefixwatch"},
	{layer: 2, path: "internal/prompt"},
	{layer: 2, path: "internal/reference"},
	{layer: 2, path: "internal/skill"},
	{layer: 2, path: "internal/skill/hub"},
	{layer: 2, path: "internal/spend"},
	{layer: 2, path: "internal/store/sqlite"},
	{layer: 2, path: "internal/tool/clarify"},
	{layer: 2, path: "internal/tool/file"},
	{layer: 2, path: "internal/tool/learning"},
	{layer: 2, path: "internal/tool/sessionsearch"},
	{layer: 2, path: "internal/tool/skills"},
	{layer: 2, path: "internal/tool/terminal"},
	{layer: 2, path: "internal/tool/todo"},
	{layer: 2, path: "internal/toolbox"},
	{layer: 2, path: "internal/transcript"},
	{layer: 2, path: "internal/transport/anthropic"},
	{layer: 2, path: "internal/transport/base"}, // the ground that internal/transport/* stand on
	{layer: 2, path: "internal/transport/bedrock"},
	{layer: 2, path: "internal/transport/chat"},
	{layer: 2, path: "internal/transport/gemini"},
	{layer: 2, path: "internal/transport/ollama"},
	{layer: 2, path: "internal/transport/responses"},
	{layer: 2, path: "internal/undo"},

	{layer: 3, path: "internal/provider"},
	{layer: 3, path: "internal/replay"},
	{layer: 3, path: "internal/session"},

	{layer: 4, path: "internal/command"},

	// Faces: they reach the agent through the session only.
	{layer: 5, path: "internal/demo"},
	{layer: 5, path: "internal/review"},
	{layer: 5, path: "internal/tui"},

	// Composition.
	{layer: 6, path: "internal/app"},
	{layer: 6, path: "internal/setup"},

	// Commands: a folder a noun.
	{layer: 8, path: "internal/cmd"},
	{layer: 9, path: "hermescmd"},

	// Programs.
	{layer: 10, path: "bench/baseline"},
	{layer: 10, path: "bench/hermes-bench"},
	{layer: 10, path: "cmd/hermes"},
}

// nouns is the layer of the folders below internal/cmd, one for each noun of the command line.
// They need no row of their own: what they may do is the same for all of them.
const nouns = 7
