package written

import (
	"cmp"
	"slices"
	"strings"

	"hermes/internal/order"
	"hermes/internal/policy/shell"
	"hermes/internal/policy/shell/inspect"
	"hermes/internal/policy/shell/lex"
)

// rank says how near a file is to being run. The lowest are shown first.
type rank int

const (
	command   rank = iota // it is in the place of a command
	code                  // a shell or an interpreter reads it, or a program obeys it
	argument              // another program gets it
	mentioned             // its name is somewhere in the text
	nearby                // it is in a folder that the line uses
)

// maxNames bounds how many names of each rank are taken from one line.
const maxNames = 1500

// name is a text in a line that may be the path of a file or folder.
type name struct {
	text   string
	rank   rank
	inside bool // if it is a folder, its program may run what is in it
	here   bool // also if it is the folder of the line, or one above it
	leaf   bool // the line does not use the folder that the file is in
	needed bool // if it is not there, the line makes it, or means another place
}

// names are those of one line.
type names struct {
	all  []name
	open bool // it may run files that it does not name
	cut  bool // there are more names

	home    string
	project bool           // one of its programs obeys the files of a project
	seen    map[string]int // the place of each text
	count   [nearby]int    // how many texts were taken first with a rank
}

// readLine finds the names in a line.
func readLine(line, home string) *names {
	n := &names{home: home, seen: map[string]int{}}
	complete := shell.Commands(line, func(words []string) bool {
		n.command(words)
		return true
	})
	for _, file := range shell.Inputs(line) {
		n.open = n.open || lex.Dynamic(file)
		n.add(file, name{rank: code})
	}
	n.text(line)
	n.open = n.cut || !complete || unclear(line) || n.open && !inspect.ReadsOnly(line)
	if n.open && n.project {
		n.files(upward(projectFiles))
	}
	order.By(n.all, func(a, b name) int { return cmp.Compare(a.rank, b.rank) })
	return n
}

// unclear reports whether what a line runs is only known when it runs.
func unclear(line string) bool {
	return slices.ContainsFunc(shell.Judge(line, shell.Context{}).Findings, func(f shell.Finding) bool {
		return slices.Contains(unclearKeys, f.Key)
	})
}

// unclearKeys are the dangers that say so.
var unclearKeys = strings.Fields("dynamic-command eval unreadable too-deep environment write-and-run download-to-shell hidden-command inline-code")

// command takes the words of one command.
func (n *names) command(words []string) {
	u := useOf(words)
	n.open = n.open || u.open
	n.add(words[0], name{rank: command})
	for _, path := range slices.Concat(pathOf(words[0]), u.needed) {
		n.add(path, name{rank: code, needed: true})
	}
	for _, word := range words[1:] {
		n.word(word, u)
	}
	n.files(u.modules)
	n.project = n.project || u.project
}

// files takes files that programs run without naming them as they are.
func (n *names) files(paths []string) {
	for _, path := range paths {
		n.take(name{text: path, rank: code, leaf: true})
	}
}

// word takes an argument, and what is in it: the value of an option or assignment, and the
// parts of a list of folders.
func (n *names) word(word string, u use) {
	one := name{rank: u.rank, inside: u.inside, here: u.here}
	n.add(word, one)
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		n.add(word[2:], one) // -Csub
	}
	for part := range strings.FieldsFuncSeq(word, isListMark) {
		n.add(part, one)
	}
}

// isListMark reports whether programs take a character as the end of a path in a word.
func isListMark(r rune) bool { return strings.ContainsRune("=:,;@", r) }

// text takes every token of the raw line, in case the line means something else than is
// read in it.
func (n *names) text(line string) {
	line = strings.NewReplacer("${HOME}", n.home, "$HOME", n.home, "${PWD}", ".", "$PWD", ".").Replace(line)
	for token := range strings.FieldsFuncSeq(line, isShellMark) {
		n.word(token, use{rank: mentioned})
	}
}

// isShellMark reports whether a character separates words or has a meaning to a shell.
func isShellMark(r rune) bool { return strings.ContainsRune(" \t\r\n;&|()<>\"'`$\\", r) }

// add takes a text that may be a path, also one in the user's home.
func (n *names) add(text string, as name) {
	if rest, ok := strings.CutPrefix(text, "~"); ok && (rest == "" || rest[0] == '/') && n.home != "" {
		text = n.home + rest
	}
	as.text = text
	n.take(as)
}

// take takes a name once, for the strongest of its uses.
func (n *names) take(one name) {
	if strings.Trim(one.text, "\x00") == "" || len(one.text) > 4096 {
		return
	}
	if i, ok := n.seen[one.text]; ok {
		old := &n.all[i]
		old.rank, old.inside, old.leaf = min(old.rank, one.rank), old.inside || one.inside, old.leaf && one.leaf
		old.needed, old.here = old.needed || one.needed, old.here || one.here
		return
	}
	if n.count[one.rank]++; n.count[one.rank] > maxNames {
		n.cut = true
		return
	}
	n.seen[one.text] = len(n.all)
	n.all = append(n.all, one)
}
