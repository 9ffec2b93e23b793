package learning

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
	"hermes/internal/text"
)

func (n noun) export() *cobra.Command {
	return n.verb("export [FILE]", "Export learnings as JSON lines", "hermes learning export learnings.jsonl", cobra.MaximumNArgs(1), func(ctx context.Context, c *call) error {
		var b bytes.Buffer
		n, err := c.Export(ctx, &b)
		if err != nil {
			return err
		}
		if len(c.args) == 0 || c.args[0] == "-" {
			_, err := b.WriteTo(c.out)
			return err
		}
		if err := atomicfile.Write(c.args[0], b.Bytes(), atomicfile.Options{}); err != nil {
			return err
		}
		c.say("Exported %s to %s.", text.Plural(n, "learning", "learnings"), c.args[0])
		return nil
	})
}

func (n noun) importCmd() *cobra.Command {
	return n.verb("import FILE|-", "Import learnings from JSON lines", "hermes learning import learnings.jsonl", cobra.ExactArgs(1), func(ctx context.Context, c *call) error {
		var in io.Reader = c.in
		if c.args[0] != "-" {
			f, err := os.Open(c.args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			in = f
		}
		n, err := c.Import(ctx, in, c.Admit)
		if err == nil {
			c.say("Imported %s.", text.Plural(n, "new learning", "new learnings"))
		}
		return err
	})
}
