package todo_test

import (
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/tool/todo"
)

func TestToolset(t *testing.T) {
	t.Parallel()
	hermestest.RunToolset(t, func(*testing.T) hermes.Toolset { return todo.New() },
		hermestest.ToolSample{Tool: "todo", Arguments: twoOpen, Want: "port the lexer"},
		hermestest.ToolSample{Tool: "todo", Arguments: `{}`, Want: "todos"})
}
