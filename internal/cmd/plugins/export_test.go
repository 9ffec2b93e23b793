package plugins

import (
	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/plugin/bundled"
)

// NewCmdWith is NewCmd with other plugins that come along.
func NewCmdWith(f *factory.Factory, find func(name string) (bundled.Plugin, bool)) *cobra.Command {
	return newCmd(noun{f, find})
}

// Fold is how a text of a plugin is shown at a width.
var Fold = fold
