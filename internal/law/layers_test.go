package law_test

// row places one package in the program.
type row struct {
	path string // folder, relative to the module root
	// deps names the third-party modules that a library (layer 1) may import. Other layers are
	// not limited here: go.mod and review decide.
	deps []string
}

// layer is one line of the picture in docs/architecture.md, which is made from this table.
type layer struct {
	number int
	name   string
	about  string
	// rows are the packages. Those of one row do not know each other; a later row may use an
	// earlier one. Keep each row sorted by path.
	rows [][]row
}

// layers is the plan of the program, from the bottom up. A package imports packages of lower
// layers only. A new package needs one row here.
var layers = []layer{
	{0, "core", "every type and interface that two components share; no I/O, no goroutine", [][]row{{
		{path: "."},
	}}},

	{1, "libraries", "general code that knows nothing of Hermes (only hermestest and what is below it know the core)", [][]row{{
		{path: "internal/lazy"},
		{path: "internal/order"},
		{path: "internal/race"}, // for tests, also those of libraries
		{path: "internal/text"},
	}, {
		{path: "internal/atomicfile", deps: []string{"github.com/gofrs/flock"}},
		{path: "internal/lru"}, // bounded maps for whatever remembers
		{path: "internal/pdf", deps: []string{"golang.org/x/text"}},                      // the text of a file, which documents and pages may be
		{path: "internal/policy", deps: []string{"golang.org/x/text", "mvdan.cc/sh/v3"}}, // the table of protected paths, which policy/shell asks
		{path: "internal/policy/shell/lex", deps: []string{"mvdan.cc/sh/v3"}},
	}, {
		{path: "internal/policy/shell/getopt"},
	}, {
		{path: "internal/policy/shell/code"},
	}, {
		{path: "internal/policy/shell/program"},
	}, {
		{path: "internal/policy/shell/track", deps: []string{"mvdan.cc/sh/v3"}},
	}, {
		{path: "internal/policy/shell/environ", deps: []string{"mvdan.cc/sh/v3"}},
	}, {
		{path: "internal/policy/shell/machine"},
		{path: "internal/policy/shell/remote"},
		{path: "internal/policy/shell/vcs"},
	}, {
		{path: "internal/policy/shell/files"},
	}, {
		{path: "hermestest"},
		{path: "hermestest/faultserver"},
		{path: "hermestest/modelsuite"},
		{path: "hermestest/storesuite", deps: []string{"github.com/google/go-cmp"}},
		{path: "internal/accept"},
		{path: "internal/accept/accepttest"},
		{path: "internal/ansi"},
		{path: "internal/argument"},
		{path: "internal/brake"},
		{path: "internal/cdp", deps: []string{"github.com/coder/websocket"}},
		{path: "internal/chatserver"},
		{path: "internal/checkpoint/object"},
		{path: "internal/chooser", deps: []string{"github.com/clipperhouse/displaywidth", "golang.org/x/term"}},
		{path: "internal/cloudbrowser/cloudbrowsertest"},
		{path: "internal/compose"},
		{path: "internal/credentialfile"},
		{path: "internal/document"},
		{path: "internal/dotenv"},
		{path: "internal/egress/egresstest"},
		{path: "internal/errsig"},
		{path: "internal/fault"},
		{path: "internal/filestamp"},
		{path: "internal/fulltext"},
		{path: "internal/home", deps: []string{"golang.org/x/sys"}},
		{path: "internal/httpc", deps: []string{"golang.org/x/net"}},
		{path: "internal/ioerr"},
		{path: "internal/jsonrepair"},
		{path: "internal/jsonrpc"},
		{path: "internal/jsonschema", deps: []string{"github.com/google/jsonschema-go"}},
		{path: "internal/keychain", deps: []string{"github.com/zalando/go-keyring"}},
		{path: "internal/keyfile"},
		{path: "internal/law"},
		{path: "internal/lineage", deps: []string{"golang.org/x/sys"}},
		{path: "internal/lineshell", deps: []string{"mvdan.cc/sh/v3"}},
		{path: "internal/lint", deps: []string{"github.com/pelletier/go-toml/v2", "go.yaml.in/yaml/v3"}},
		{path: "internal/liveness", deps: []string{"github.com/gofrs/flock", "golang.org/x/sys"}},
		{path: "internal/localsocket", deps: []string{"github.com/Microsoft/go-winio", "golang.org/x/sys"}},
		{path: "internal/logfile"},
		{path: "internal/markup", deps: []string{"github.com/clipperhouse/displaywidth", "github.com/yuin/goldmark"}},
		{path: "internal/mcp/known"},
		{path: "internal/modelinfo"},
		{path: "internal/netguard", deps: []string{"golang.org/x/net"}},
		{path: "internal/oauth"},
		{path: "internal/oauthserver"},
		{path: "internal/patch"},
		{path: "internal/pending"},
		{path: "internal/picture"},
		{path: "internal/plugin/sdk"}, // the plugin's side
		{path: "internal/plugin/upstream", deps: []string{"go.yaml.in/yaml/v3"}},
		{path: "internal/policy/shell", deps: []string{"mvdan.cc/sh/v3"}},
		{path: "internal/proc", deps: []string{"golang.org/x/sys"}},
		{path: "internal/ratelimit"},
		{path: "internal/recallblock"},
		{path: "internal/redact"},
		{path: "internal/repetition"},
		{path: "internal/sandbox/gitguard/gitindex"},
		{path: "internal/sandbox/gitguard/notify", deps: []string{"golang.org/x/sys"}},
		{path: "internal/sandbox/landlock", deps: []string{"golang.org/x/sys"}},
		{path: "internal/sandbox/mount", deps: []string{"golang.org/x/sys"}},
		{path: "internal/sandbox/seccomp", deps: []string{"golang.org/x/sys"}},
		{path: "internal/schema"},
		{path: "internal/search", deps: []string{"golang.org/x/sys"}},
		{path: "internal/settle"},
		{path: "internal/shellstate"},
		{path: "internal/skill/guard"},
		{path: "internal/sqlitefile"},
		{path: "internal/sse"},
		{path: "internal/system", deps: []string{"golang.org/x/sys"}},
		{path: "internal/texttool"},
		{path: "internal/thinktag"},
		{path: "internal/tokens"},
		{path: "internal/usage"},
		{path: "internal/webpage", deps: []string{"golang.org/x/net"}},
		{path: "internal/websearch/websearchtest"},
		{path: "internal/yamledit", deps: []string{"go.yaml.in/yaml/v3"}},
	}, {
		{path: "internal/browser/browsertest"}, // it starts a browser with proc
		{path: "internal/checkpoint/away"},     // it keeps contents as object does
		{path: "internal/cloudbrowser"},        // its clients are of httpc
		{path: "internal/environment/enginetest"},
		{path: "internal/environment/sshdtest"},                     // it starts sshd with proc
		{path: "internal/git"},                                      // it starts git with proc
		{path: "internal/hostlist"},                                 // hosts as netguard writes them
		{path: "internal/link", deps: []string{"golang.org/x/net"}}, // the same
		{path: "internal/mcp/setting", deps: []string{"golang.org/x/net"}},
		{path: "internal/memory/scan"},
		{path: "internal/policy/shell/inspect", deps: []string{"mvdan.cc/sh/v3"}},
		{path: "internal/sandbox", deps: []string{"golang.org/x/sys"}}, // it puts landlock, mount and seccomp together
		{path: "internal/sandbox/gitguard", deps: []string{"golang.org/x/sys"}},
		{path: "internal/websearch", deps: []string{"golang.org/x/net"}}, // its clients are of httpc
		{path: "internal/window"},                                        // outputs that ansi cleans
	}, {
		{path: "internal/browser"},    // it starts a browser with proc, and its tests do so below a keeper
		{path: "internal/checkpoint"}, // it works with away
		{path: "internal/mcp/message", deps: []string{"github.com/modelcontextprotocol/go-sdk"}}, // it wraps clients as httpc does
		{path: "internal/mcp/remote"},    // it uses httpc and netguard
		{path: "internal/plugin/source"}, // it runs git
		{path: "internal/sandbox/jobobject", deps: []string{"golang.org/x/sys"}},
		{path: "internal/sandbox/plan"},
		{path: "internal/sandbox/seatbelt"}, // it reads the policies of sandbox
		{path: "internal/worktree"},         // it runs git
		{path: "internal/written"},          // which files a line runs, as policy/shell reads it
	}, {
		{path: "internal/mcp/login", deps: []string{"github.com/modelcontextprotocol/go-sdk"}}, // it uses remote
	}, {
		{path: "internal/checkpoint/checkpointtest"},
	}}},

	{2, "components", "each can be built, tested and replaced alone", [][]row{{
		{path: "internal/egress/connect"},
		{path: "internal/egress/sshagent"},
		{path: "internal/egress/swap"},
		{path: "internal/environment/remote"}, // what all backends share but the local one
		{path: "internal/isolation"},          // between environments and walls
		{path: "internal/memory/external"},
		{path: "internal/plugin/bundled/found"}, // what the plugins that come along share
		{path: "internal/plugin/bundled/login"},
		{path: "internal/plugin/bundled/rest"},
		{path: "internal/plugin/bundled/typed"},
		{path: "internal/store"},
		{path: "internal/transport/base"},
	}, {
		{path: "internal/environment/rented"}, // what the services that rent out sandboxes share
	}, {
		{path: "bench/instant"},
		{path: "internal/archive"},
		{path: "internal/audit"},
		{path: "internal/auxiliary"},
		{path: "internal/config"},
		{path: "internal/contextengine"},
		{path: "internal/credential"},
		{path: "internal/egress"}, // the way out of sandboxed processes
		{path: "internal/environment"},
		{path: "internal/environment/daytona"},
		{path: "internal/environment/docker"},
		{path: "internal/environment/e2b"},
		{path: "internal/environment/modal"},
		{path: "internal/environment/places"}, // those of the sessions that live
		{path: "internal/environment/runloop"},
		{path: "internal/environment/singularity"},
		{path: "internal/environment/ssh"},
		{path: "internal/environment/vercel"},
		{path: "internal/hook"},
		{path: "internal/hook/checkpoint"},
		{path: "internal/hook/learning"},
		{path: "internal/hook/script", deps: []string{"mvdan.cc/sh/v3"}},
		{path: "internal/learning"},
		{path: "internal/lease"},
		{path: "internal/mcp"},
		{path: "internal/memory"},
		{path: "internal/memory/external/honcho"},
		{path: "internal/memory/external/local"},
		{path: "internal/memory/external/mem0"},
		{path: "internal/memory/external/supermemory"},
		{path: "internal/permission"},
		{path: "internal/plugin"},
		{path: "internal/plugin/bundled/byterover"},
		{path: "internal/plugin/bundled/googlemeet"},
		{path: "internal/plugin/bundled/hindsight"},
		{path: "internal/plugin/bundled/holographic"},
		{path: "internal/plugin/bundled/openviking"},
		{path: "internal/plugin/bundled/retaindb"},
		{path: "internal/plugin/bundled/spotify"},
		{path: "internal/prefixwatch"},
		{path: "internal/prompt"},
		{path: "internal/protocol"},
		{path: "internal/reference"},
		{path: "internal/serverinfo"}, // what model servers say about their models
		{path: "internal/skill"},
		{path: "internal/skill/hub"},
		{path: "internal/spend"},
		{path: "internal/store/sqlite"},
		{path: "internal/storetest"},
		{path: "internal/surroundings"},
		{path: "internal/tool/browser"},
		{path: "internal/tool/checkpoint"},
		{path: "internal/tool/clarify"},
		{path: "internal/tool/codeexecution", deps: []string{"github.com/tetratelabs/wazero", "modernc.org/libc", "modernc.org/libquickjs", "modernc.org/quickjs"}},
		{path: "internal/tool/delegation"},
		{path: "internal/tool/file", deps: []string{"golang.org/x/sys"}},
		{path: "internal/tool/learning"},
		{path: "internal/tool/messaging"},
		{path: "internal/tool/moa"},
		{path: "internal/tool/sessions"},
		{path: "internal/tool/sessionsearch"},
		{path: "internal/tool/skills"},
		{path: "internal/tool/terminal"},
		{path: "internal/tool/todo"},
		{path: "internal/tool/toolsearch"},
		{path: "internal/tool/web"},
		{path: "internal/toolset"},
		{path: "internal/transcript"},
		{path: "internal/transport/acp"},
		{path: "internal/transport/anthropic"},
		{path: "internal/transport/bedrock"},
		{path: "internal/transport/chat"},
		{path: "internal/transport/gemini"},
		{path: "internal/transport/ollama"},
		{path: "internal/transport/responses"},
		{path: "internal/trust"}, // the settings that projects bring along
		{path: "internal/undo"},
		{path: "internal/upkeep"},
	}, {
		{path: "internal/plugin/bundled"}, // the list of them
	}}},

	{3, "engine", "the agent loop, the tool chain, the model chain; the work beside turns; reviews and replays", [][]row{{
		{path: "internal/chain"},   // layers that know no service; provider puts them in order
		{path: "internal/confine"}, // puts the walls, what they allow and the way out together
	}, {
		{path: "internal/agent"},
		{path: "internal/evidence"},
		{path: "internal/provider"},
		{path: "internal/toolbox"},
	}, {
		{path: "internal/session/jobs"},
		{path: "internal/session/turn"},
	}, {
		{path: "internal/models"},
		{path: "internal/replay"},
		{path: "internal/review"},
	}}},

	{4, "session", "one goroutine per conversation: operations, persistence, recovery", [][]row{{
		{path: "internal/session"},
	}}},

	{5, "on sessions", "slash commands; sessions as frontends see them, here and in other processes", [][]row{{
		{path: "internal/command"},
	}, {
		{path: "internal/protocol/local"},
		{path: "internal/protocol/remote"},
	}, {
		{path: "internal/owner"},                 // this process as one that others reach
		{path: "internal/peer"},                  // sessions that ask each other
		{path: "internal/protocol/protocoltest"}, // the contract of the clients
		{path: "internal/protocol/router"},
	}}},

	{6, "frontends", "they reach the agent through the protocol's client", [][]row{{
		{path: "internal/tui/input"}, // what the user types into
	}, {
		{path: "internal/demo"},
		{path: "internal/mcpserver"}, // editors and other agents
		{path: "internal/tui"},
	}}},

	{7, "composition", "the explicit lists of tools, providers and stores; setup and doctor", [][]row{{
		{path: "internal/services"}, // the settings of model services
	}, {
		{path: "internal/app"},
		{path: "internal/setup"},
	}}},

	{8, "command line", "one folder below cmd/ for each noun, such as sessions or memory", [][]row{{
		{path: "internal/attack"},      // what hermes doctor --attack tries
		{path: "internal/cmd/factory"}, // what all commands work with
	}, {
		{path: "internal/cmd/*"},
	}, {
		{path: "internal/cmd"},
	}}},

	{9, "programs", "the main packages, and measurements of whole runs", [][]row{{
		{path: "hermescmd"},
	}, {
		{path: "bench/baseline"},
		{path: "bench/hermes-bench"},
		{path: "bench/hermes-torture"},
		{path: "cmd/hermes"},
	}}},
}

// nouns is the row of all folders below internal/cmd: they need none of their own.
const nouns = "internal/cmd/*"
