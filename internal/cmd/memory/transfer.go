package memory

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"hermes/internal/cmd/factory"
	"hermes/internal/memory"
	"hermes/internal/text"
)

func (n noun) export() *cobra.Command {
	return factory.VerbOn(n.file, "export [FILE]", "Export all entries as JSON", "hermes memory export memory.json", cobra.MaximumNArgs(1), func(_ context.Context, c *factory.Call, b *memory.File) error {
		var out bytes.Buffer
		if err := b.Export(&out); err != nil {
			return err
		}
		toFile, err := c.Export(c.Arg(0), out.Bytes())
		if err == nil && toFile {
			c.Say("Exported all entries to %s.", c.Args[0])
		}
		return err
	})
}

func (n noun) importCmd() *cobra.Command {
	var target string
	cmd := factory.VerbOn(n.file, "import FILE|-", "Import entries from an export or a text file", "hermes memory import memory.json\n  hermes memory import notes.md --target memory", cobra.ExactArgs(1), func(ctx context.Context, c *factory.Call, b *memory.File) error {
		t, err := memory.ParseTarget(target)
		if err != nil {
			return err
		}
		in, err := c.Input(c.Args[0])
		if err != nil {
			return err
		}
		defer in.Close()
		entries, err := b.Import(ctx, in, t)
		if err == nil {
			c.Say("Imported %s.", text.Plural(entries, "new entry", "new entries"))
		}
		return err
	})
	cmd.Flags().StringVar(&target, "target", "memory", "memory for the entries of a text file: memory or user")
	return cmd
}
