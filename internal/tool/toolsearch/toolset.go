// Package toolsearch is the toolset with which a model finds and calls tools that it is not offered.
//
// The tools of servers are many and come late, and the list of tools with which a session began never
// changes. Package toolset decides which tools are deferred; a session has this toolset if there can be
// any. search.go ranks what a query finds. What tool_call calls is run as a call of the other tool, see
// [hermes.ToolCall.Forwarded]: only calls that name none come here.
package toolsearch

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes"
)

const name = "tool_search"

// maxServers limits how many characters of a description name servers.
const maxServers = 1500

var (
	//go:embed tool_search.md
	searchDoc string
	//go:embed tool_call.md
	callDoc string
)

// Toolset is the tools tool_search and tool_call. It keeps nothing and may be used concurrently.
type Toolset struct{}

var _ hermes.Toolset = Toolset{}

// New returns the toolset.
func New() Toolset { return Toolset{} }

// Name is "tool_search".
func (Toolset) Name() string { return name }

// Available always returns "".
func (Toolset) Available(context.Context) string { return "" }

// Tools returns the two tools.
func (Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	search := hermes.NewTool(hermes.Spec{
		Name: hermes.SearchTool, Description: strings.TrimSpace(searchDoc), Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
		Trusted: true, // it names the servers whose texts it shows
	}, search)
	forward := hermes.NewTool(hermes.Spec{
		Name: hermes.ForwardTool, Description: strings.TrimSpace(callDoc), Trusted: true,
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object","additionalProperties":true}},"required":["name"]}`),
	}, forward)
	return []hermes.Tool{finder{search}, forward}, nil
}

// forward is called only for a call that does not name a tool of a server.
func forward(_ context.Context, _ *hermes.Call, in struct {
	Name string `json:"name"`
}) (hermes.Result, error) {
	if in.Name == "" || in.Name == hermes.ForwardTool {
		return hermes.Result{}, errors.New("the call names no other tool; give the name of one that tool_search found, and its arguments")
	}
	return hermes.Result{}, fmt.Errorf("%s is in your list of tools: call it by itself", in.Name)
}

// finder is tool_search. Its description names what is deferred.
type finder struct{ hermes.Tool }

// Describe returns the description with the toolsets and servers of which nothing is listed.
func (f finder) Describe(deferred []hermes.ToolGroup) string {
	var own, servers []string
	size := 0
	left := 0
	for _, g := range deferred {
		title := g.Title()
		switch size += len(title) + 2; {
		case g.Own: // few, and always named
			own = append(own, strings.TrimSpace(title+" "+g.Hint))
			size -= len(title) + 2
		case size > maxServers:
			left++
		default:
			servers = append(servers, title)
		}
	}
	if left > 0 {
		servers = append(servers, "and "+count(left, "more"))
	}
	text := f.Spec().Description
	if len(own) > 0 {
		text += " Of Hermes: " + strings.Join(own, ", ") + "."
	}
	if len(servers) > 0 {
		text += " Servers: " + strings.Join(servers, ", ") + "."
	}
	return text
}
