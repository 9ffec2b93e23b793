package memory

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"hermes/internal/atomicfile"
	"hermes/internal/memory"
	"hermes/internal/text"
)

func newExportCmd(n noun) *cobra.Command {
	return &cobra.Command{
		Use: "export [FILE]", Short: "Export all entries as JSON", Args: cobra.MaximumNArgs(1), Example: "  hermes memory export memory.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := n.file()
			if err != nil {
				return err
			}
			var out bytes.Buffer
			if err := b.Export(&out); err != nil {
				return err
			}
			if len(args) == 0 || args[0] == "-" {
				_, err = cmd.OutOrStdout().Write(out.Bytes())
				return err
			}
			if err := atomicfile.Write(args[0], out.Bytes(), atomicfile.Options{}); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Exported all entries to %s.\n", args[0])
			return nil
		},
	}
}

func newImportCmd(n noun) *cobra.Command {
	var target string
	cmd := &cobra.Command{
		Use: "import FILE|-", Short: "Import entries from an export or a text file", Args: cobra.ExactArgs(1), Example: "  hermes memory import memory.json\n  hermes memory import notes.md --target memory",
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := memory.ParseTarget(target)
			if err != nil {
				return err
			}
			b, err := n.file()
			if err != nil {
				return err
			}
			var in io.Reader = cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer f.Close()
				in = f
			}
			n, err := b.Import(cmd.Context(), in, t)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Imported %s.\n", text.Plural(n, "new entry", "new entries"))
			return nil
		},
	}
	cmd.Flags().StringVar(&target, "target", "memory", "memory for the entries of a text file: memory or user")
	return cmd
}
