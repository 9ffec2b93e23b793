package law_test

import (
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the picture into docs/architecture.md")

const architecture = "docs/architecture.md"

// The picture is the block between these two lines.
const (
	pictureBegin = "<!-- The picture is made from internal/law/layers_test.go: go test ./internal/law -update -->\n```text\n"
	pictureEnd   = "```\n"
)

// TestArchitectureShowsTheLayers keeps the picture on the page the same as the table that the
// other tests enforce.
func TestArchitectureShowsTheLayers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(mustRoot(t), filepath.FromSlash(architecture))
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), pictureBegin)
	shown, after, closed := strings.Cut(rest, pictureEnd)
	if !ok || !closed {
		t.Fatalf("%s has no picture: it needs the lines %q and %q", architecture, pictureBegin, pictureEnd)
	}
	want := picture(layers)
	if *update && shown != want {
		if err := os.WriteFile(file, []byte(before+pictureBegin+want+pictureEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if shown != want {
		t.Errorf("the picture in %s is not the table in internal/law/layers_test.go; renew it with: go test ./internal/law -update", architecture)
	}
}

// pictureWidth is the longest line of the picture, in characters.
const pictureWidth = 118

// picture draws the layers, the uppermost first.
func picture(layers []layer) string {
	var b strings.Builder
	for _, l := range slices.Backward(layers) {
		fmt.Fprintf(&b, "L%d  %-13s %s\n", l.number, strings.ToUpper(l.name), l.about)
		for _, rows := range slices.Backward(l.rows) {
			line := "   "
			for _, name := range shortNames(rows) {
				if len([]rune(line))+1+len(name) > pictureWidth {
					b.WriteString(line + "\n")
					line = "   "
				}
				line += " " + name
			}
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// shortNames are the packages of a row without internal/, those of one folder in braces.
func shortNames(rows []row) []string {
	var names []string
	folders := map[string]int{} // index in names of a folder with several packages
	for _, r := range rows {
		name := strings.TrimPrefix(r.path, "internal/")
		if name == "." {
			name = "hermes"
		}
		folder, last := path.Split(name)
		if folder == "" || last == "*" {
			names = append(names, name)
			continue
		}
		if i, ok := folders[folder]; ok {
			list := strings.Trim(strings.TrimPrefix(names[i], folder), "{}")
			names[i] = folder + "{" + list + "," + last + "}"
			continue
		}
		folders[folder] = len(names)
		names = append(names, name)
	}
	return names
}

// TestPicture shows the form on a small table.
func TestPicture(t *testing.T) {
	t.Parallel()
	got := picture([]layer{
		{0, "core", "all", [][]row{{{path: "."}}}},
		{1, "parts", "some", [][]row{{{path: "internal/z"}}, {{path: "internal/t/a"}, {path: "internal/t/b"}, {path: "internal/t/c"}, {path: "internal/u/x"}}}},
	})
	want := "L1  PARTS         some\n    t/{a,b,c} u/x\n    z\nL0  CORE          all\n    hermes\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestArchitectureNamesFilesThatExist keeps the table question → file of the page true: the
// second cell of each row names files or folders in backquotes.
func TestArchitectureNamesFilesThatExist(t *testing.T) {
	t.Parallel()
	root := mustRoot(t)
	raw, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(architecture)))
	if err != nil {
		t.Fatal(err)
	}
	rows, faults := questions(string(raw), func(name string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil
	})
	for _, fault := range faults {
		t.Errorf("%s: %s", architecture, fault)
	}
	if rows < 25 {
		t.Errorf("%s answers %d questions: the table was not read, or is too short", architecture, rows)
	}
}

// questions counts the rows of the table question → file of a page, and names what its files lack.
func questions(page string, exists func(name string) bool) (rows int, faults []string) {
	_, table, ok := strings.Cut(page, "| question | file |\n")
	if !ok {
		return 0, []string{"there is no table with the head: question, file"}
	}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "|-") || strings.HasPrefix(line, "| -") {
			continue
		}
		rows++
		parts := strings.Split(cells[len(cells)-1], "`")
		if len(cells) != 2 || len(parts) < 3 {
			faults = append(faults, "no file in: "+strings.TrimSpace(line))
			continue
		}
		for i := 1; i < len(parts); i += 2 {
			if !exists(parts[i]) {
				faults = append(faults, parts[i]+" does not exist")
			}
		}
	}
	return rows, faults
}

func TestQuestionsWithoutAFileAreFound(t *testing.T) {
	t.Parallel()
	page := "# P\n| question | file |\n|---|---|\n| a? | `a.go`, `b.go` |\n| b? | somewhere |\n| c? | `c.go` |\n\n| other | `d.go` |\n"
	rows, faults := questions(page, func(name string) bool { return name != "b.go" })
	if rows != 3 || len(faults) != 2 || !strings.HasPrefix(faults[0], "b.go ") || !strings.HasPrefix(faults[1], "no file in: | b?") {
		t.Errorf("%d rows, %q", rows, faults)
	}
}
