package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	wire "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/internal/text"
)

// maxDepth bounds how deep the schema of a form is.
const maxDepth = 8

// received runs the handler of a message of the server. One that the SDK cannot handle is refused:
// it must not end the program.
func (o *Server) received(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				o.cfg.Log.Error("a message of an MCP server cannot be handled", "server", o.set.Name, "method", method, "panic", p, "stack", string(debug.Stack()))
				result, err = nil, &wire.Error{Code: wire.CodeInvalidParams, Message: "the request is not valid"}
			}
		}()
		if e, ok := r.(*mcp.ElicitRequest); ok && e.Params != nil {
			if err := flat(e.Params.RequestedSchema, maxDepth); err != nil {
				return nil, &wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()}
			}
		}
		return next(ctx, method, r)
	}
}

// caught turns a panic about an answer of the server into an error. Call it deferred.
func (o *Server) caught(err *error) {
	if p := recover(); p != nil {
		o.cfg.Log.Error("an answer of an MCP server cannot be read", "server", o.set.Name, "panic", p, "stack", string(debug.Stack()))
		*err = errors.New("its answer cannot be read")
	}
}

// flat checks that the schema of a form has fields of plain types only, as the protocol demands. The
// SDK follows one that refers to itself without end.
func flat(schema any, depth int) error {
	m, _ := schema.(map[string]any)
	for key, x := range m {
		var inner []any
		switch key {
		case "enum", "enumNames", "const", "default", "examples", "required":
			continue // values, or names
		case "properties":
			fields, _ := x.(map[string]any)
			inner = slices.Collect(maps.Values(fields))
		case "oneOf", "anyOf", "items":
			if list, ok := x.([]any); ok {
				inner = list
			} else {
				inner = []any{x}
			}
		default:
			_, object := x.(map[string]any)
			_, list := x.([]any)
			if object || list || strings.HasSuffix(strings.ToLower(key), "ref") {
				return fmt.Errorf("the schema of the form has %s; a form has fields of plain types only", text.OneLine(text.Plain(key), 60))
			}
		}
		if depth == 0 && len(inner) > 0 {
			return errors.New("the schema of the form is too deep")
		}
		for _, x := range inner {
			if err := flat(x, depth-1); err != nil {
				return err
			}
		}
	}
	return nil
}
