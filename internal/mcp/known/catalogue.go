// Package known has what is known of MCP servers before they are used: a catalogue of servers that
// were looked at, and whether a package is malware. It knows no connection. Start at [Catalogue] and
// [Advisories].
package known

import (
	"strings"

	"hermes/internal/order"
)

// Server is a server of the catalogue, with what it needs.
type Server struct {
	Name, Title, About string
	Home               string // where to read about it
	// Settings are as in the configuration, with ${NAME} for each of Keys and Inputs.
	Settings map[string]any
	// Keys are secrets that the user has to give, kept in the file of secrets.
	Keys []Need
	// Inputs are other values that the user has to give, such as a folder.
	Inputs []Need
}

// Need is a value that a server of the catalogue needs.
type Need struct{ Name, About string }

// Catalogue returns the known servers, sorted by name. Versions of packages are pinned.
func Catalogue() []Server {
	program := func(name, title, about, home string, settings map[string]any, inputs ...Need) Server {
		return Server{Name: name, Title: title, About: about, Home: home, Settings: settings, Inputs: inputs}
	}
	service := func(name, title, about, home, url string) Server {
		return Server{Name: name, Title: title, About: about, Home: home, Settings: map[string]any{"url": url, "auth": "oauth"}}
	}
	npx := func(spec string, more ...any) map[string]any {
		return map[string]any{"command": "npx", "args": append([]any{"-y", spec}, more...)}
	}
	uvx := func(spec string, more ...any) map[string]any {
		return map[string]any{"command": "uvx", "args": append([]any{spec}, more...)}
	}
	const servers = "https://github.com/modelcontextprotocol/servers"
	folder := npx("@modelcontextprotocol/server-filesystem@2026.8.31", "${FOLDER}")
	folder["reach"] = map[string]any{"write": []any{"${FOLDER}"}}
	git := uvx("mcp-server-git==2026.10.19", "--repository", "${REPOSITORY}")
	git["reach"] = map[string]any{"write": []any{"${REPOSITORY}"}}
	list := []Server{
		service("asana", "Asana", "Tasks and projects.", "https://developers.asana.com/docs/using-asanas-mcp-server", "https://mcp.asana.com/mcp"),
		service("cloudflare", "Cloudflare", "Documentation of Cloudflare.", "https://developers.cloudflare.com/agents/model-context-protocol/", "https://docs.mcp.cloudflare.com/mcp"),
		{Name: "context7", Title: "Context7", About: "Documentation of libraries, by version.", Home: "https://context7.com", Settings: map[string]any{"url": "https://mcp.context7.com/mcp"}},
		{Name: "deepwiki", Title: "DeepWiki", About: "Questions about public repositories.", Home: "https://deepwiki.com", Settings: map[string]any{"url": "https://mcp.deepwiki.com/mcp"}},
		program("everything", "Everything", "Every feature of the protocol, for tests.", servers, npx("@modelcontextprotocol/server-everything@2026.8.31")),
		program("filesystem", "Filesystem", "Files of one folder.", servers, folder, Need{"FOLDER", "the folder, as an absolute path"}),
		program("git", "Git", "One Git repository.", servers, git, Need{"REPOSITORY", "the repository, as an absolute path"}),
		{
			Name: "github", Title: "GitHub", About: "Repositories, issues and pull requests.", Home: "https://github.com/github/github-mcp-server",
			Settings: map[string]any{"url": "https://api.githubcopilot.com/mcp/", "headers": map[string]any{"Authorization": "Bearer ${GITHUB_PERSONAL_ACCESS_TOKEN}"}},
			Keys:     []Need{{"GITHUB_PERSONAL_ACCESS_TOKEN", "a token from https://github.com/settings/tokens"}},
		},
		{Name: "huggingface", Title: "Hugging Face", About: "Models, datasets and papers.", Home: "https://huggingface.co/settings/mcp", Settings: map[string]any{"url": "https://huggingface.co/mcp"}},
		service("linear", "Linear", "Issues and projects.", "https://linear.app/docs/mcp", "https://mcp.linear.app/mcp"),
		program("memory", "Memory", "A graph of what is known, in a file of its own.", servers, npx("@modelcontextprotocol/server-memory@2026.8.31")),
		service("notion", "Notion", "Pages and databases.", "https://developers.notion.com/docs/mcp", "https://mcp.notion.com/mcp"),
		service("sentry", "Sentry", "Errors and their traces.", "https://docs.sentry.io/product/sentry-mcp/", "https://mcp.sentry.dev/mcp"),
		service("stripe", "Stripe", "Payments and customers.", "https://docs.stripe.com/mcp", "https://mcp.stripe.com"),
		program("time", "Time", "The time in other zones.", servers, uvx("mcp-server-time==2026.10.19")),
	}
	order.By(list, func(a, b Server) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Find returns a server of the catalogue by its name.
func Find(name string) (Server, bool) {
	for _, k := range Catalogue() {
		if k.Name == name {
			return k, true
		}
	}
	return Server{}, false
}
