package factory_test

import (
	"strings"
	"testing"

	"hermes/internal/cmd/factory"
)

func TestColumnsAreAlignedAsTerminalsShowThem(t *testing.T) {
	t.Parallel()
	table := factory.Table{Numbers: 1}
	table.Row("日本", 5)
	table.Row()
	table.Row("abcdef", 1200)
	table.Row("alone")
	var b strings.Builder
	if err := table.Print(&b); err != nil {
		t.Fatal(err)
	}
	if want := "日本       5\n\nabcdef  1200\nalone\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
