package markup

import (
	"strings"
	"sync"
)

// language is the syntax of one language, as far as the highlighter needs it.
type language struct {
	comments []string         // start of a comment up to the end of the line
	spans    []pair           // comments and strings that may span lines
	quotes   string           // delimiters of a string within a line
	words    map[string]Color // keywords and fixed names
	types    bool             // capitalised names are types
	dollar   bool             // $name is a variable
	keys     bool             // a name before : or = is a key
	tags     bool             // <name is a tag
	folded   bool             // keywords in either case
	whole    func(line string) Color
}

// pair delimits a comment or a string that may span lines.
type pair struct {
	open, close string
	color       Color
}

func words(keywords, fixed string) map[string]Color {
	m := map[string]Color{}
	for _, w := range strings.Fields(keywords) {
		m[w] = colorKeyword
	}
	for _, w := range strings.Fields(fixed) {
		m[w] = colorNumber
	}
	return m
}

// languageOf finds a language by the name at a fence, or nil.
func languageOf(word string) *language {
	word = strings.ToLower(strings.Trim(word, "{}. "))
	table := languages()
	if l := table[word]; l != nil {
		return l
	}
	return table[aliases[word]]
}

var aliases = map[string]string{
	"golang": "go", "py": "python", "python3": "python", "pyi": "python", "js": "javascript", "jsx": "javascript",
	"mjs": "javascript", "node": "javascript", "ts": "javascript", "tsx": "javascript", "typescript": "javascript",
	"rs": "rust", "c++": "c", "cpp": "c", "h": "c", "hpp": "c", "cc": "c", "objc": "c", "cs": "java", "csharp": "java",
	"kt": "java", "kotlin": "java", "scala": "java", "swift": "java", "dart": "java", "groovy": "java",
	"bash": "shell", "sh": "shell", "zsh": "shell", "fish": "shell", "console": "shell", "shellsession": "shell",
	"dockerfile": "shell", "docker": "shell", "makefile": "shell", "make": "shell", "powershell": "shell", "ps1": "shell",
	"yml": "yaml", "ini": "toml", "conf": "toml", "properties": "toml", "env": "toml", "dotenv": "toml", "hcl": "toml",
	"json5": "json", "jsonc": "json", "jsonl": "json", "xml": "html", "svg": "html", "vue": "html", "scss": "css", "less": "css",
	"patch": "diff", "postgresql": "sql", "mysql": "sql", "sqlite": "sql", "rb": "ruby", "ex": "ruby", "elixir": "ruby",
	"perl": "ruby", "pl": "ruby", "zig": "rust",
}

var languages = sync.OnceValue(func() map[string]*language {
	block := pair{"/*", "*/", colorComment}
	slashes := []string{"//"}
	hash := []string{"#"}
	return map[string]*language{
		"go": {comments: slashes, spans: []pair{block, {"`", "`", colorText}}, quotes: `"'`, words: words(
			"break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			"true false nil iota")},
		"python": {comments: hash, spans: []pair{{`"""`, `"""`, colorText}, {"'''", "'''", colorText}}, quotes: `"'`, types: true, words: words(
			"and as assert async await break class continue def del elif else except finally for from global if import in is lambda match case nonlocal not or pass raise return try while with yield",
			"True False None self")},
		"javascript": {comments: slashes, spans: []pair{block, {"`", "`", colorText}}, quotes: `"'`, types: true, words: words(
			"abstract as async await break case catch class const continue declare default delete do else enum export extends finally for from function get if implements import in instanceof interface let namespace new of private protected public readonly return set static super switch throw try type typeof var void while yield",
			"true false null undefined this NaN")},
		"rust": {comments: slashes, spans: []pair{block}, quotes: `"`, types: true, words: words(
			"as async await break comptime const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while",
			"true false self Self None Some Ok Err")},
		"c": {comments: slashes, spans: []pair{block}, quotes: `"'`, words: words(
			"alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern float for friend goto if inline int long mutable namespace new noexcept operator private protected public register return short signed sizeof static struct switch template this throw try typedef typename union unsigned using virtual void volatile while include define ifdef ifndef endif pragma",
			"true false NULL nullptr")},
		"java": {comments: slashes, spans: []pair{{`"""`, `"""`, colorText}, block}, quotes: `"'`, types: true, words: words(
			"abstract as async await boolean break byte case catch char class const continue data default def do double else enum extends extension final finally float for foreach func fun get guard if implements import in init inner instanceof int interface internal is let long match namespace native new object open operator out override package private protected protocol public record ref return sealed set short static string struct super suspend switch synchronized this throw throws trait try typealias using val var virtual void volatile when where while with yield",
			"true false null nil self it")},
		"ruby": {comments: hash, quotes: `"'`, types: true, dollar: true, words: words(
			"alias and begin break case class def defmodule defp do else elsif end ensure fn for foreach if in last module my next not or our package redo require require_relative rescue retry return sub then undef unless until use when while yield",
			"true false nil self")},
		"php": {comments: []string{"//", "#"}, spans: []pair{block}, quotes: `"'`, types: true, dollar: true, words: words(
			"abstract as break case catch class clone const continue declare default do echo else elseif extends final finally fn for foreach function global if implements include instanceof interface match namespace new private protected public readonly require require_once return static switch throw trait try use var while yield",
			"true false null")},
		"lua": {comments: []string{"--"}, spans: []pair{{"[[", "]]", colorText}}, quotes: `"'`, words: words(
			"and break do else elseif end for function goto if in local not or repeat return then until while", "true false nil self")},
		"shell": {comments: hash, quotes: `"'`, dollar: true, words: words(
			"if then elif else fi for in do done while until case esac function return break continue local export readonly set unset shift trap exit source FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE USER VOLUME",
			"true false")},
		"json": {comments: slashes, spans: []pair{block}, quotes: `"`, keys: true, words: words("", "true false null")},
		"yaml": {comments: hash, quotes: `"'`, keys: true, words: words("", "true false null yes no on off")},
		"toml": {comments: []string{"#", ";"}, spans: []pair{{`"""`, `"""`, colorText}}, quotes: `"'`, keys: true, words: words("", "true false")},
		"html": {spans: []pair{{"<!--", "-->", colorComment}}, quotes: `"`, tags: true, keys: false, words: words("", "")},
		"css":  {comments: slashes, spans: []pair{block}, quotes: `"'`, keys: true, words: words("important media import supports keyframes", "inherit none auto initial")},
		"sql": {comments: []string{"--"}, spans: []pair{block}, quotes: `'"`, folded: true, words: words(
			"add all alter and as asc begin between by case check column commit constraint create cross database default delete desc distinct drop else end exists explain foreign from full group having if in index inner insert into is join key left like limit not offset on or order outer over partition primary references returning right rollback select set table then transaction trigger union unique update using values view when where with",
			"null true false")},
		"diff": {whole: diffColor},
	}
})
