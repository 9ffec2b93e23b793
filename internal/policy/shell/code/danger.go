package code

import (
	"strings"

	"hermes/internal/lazy"
)

var destructiveSQL = lazy.Regexp(`(?i)\b(drop\s+(table|database|schema|(materialized\s+)?view|index|role|user|tablespace|owned|trigger|function|procedure|type|sequence|extension|policy|column|constraint|keyspace)|truncate\s+(table\s+)?[\w."` + "`" + `\[]+|delete\s+from\s)`)

var sqlComment = lazy.Regexp(`(?s)/\*.*?\*/`)

var narrowedDelete = lazy.Regexp(`(?is)^delete\s+from\s[^;]*\bwhere\b`)

// IsStatement reports whether the name of a program is a word of SQL that deletes.
func IsStatement(name string) bool { return name == "drop" || name == "delete" || name == "truncate" }

// Destroys reports whether a text has SQL that deletes tables or all rows of one.
func Destroys(text string) bool {
	if !mentionsSQL(text) {
		return false
	}
	if strings.Contains(text, "/*") {
		text = sqlComment().ReplaceAllString(text, " ")
	}
	for _, at := range destructiveSQL().FindAllStringIndex(text, -1) {
		if !strings.EqualFold(text[at[0]:at[0]+6], "delete") || !narrowedDelete().MatchString(text[at[0]:]) {
			return true
		}
	}
	return false
}

// mentionsSQL is a cheap check before the expressions.
func mentionsSQL(text string) bool {
	low := strings.ToLower(text)
	return strings.Contains(low, "drop") || strings.Contains(low, "truncate") || strings.Contains(low, "delete")
}

// Destroyers are functions of programming languages that delete what a path
// names and everything in it.
var Destroyers = lazy.Regexp(`(?i)(?:rmtree|removeall|rm_rf|rm_r|remove_entry\w*|rmsync|rmdirsync|rimraf\w*|remove_dir\w*|removesync|deno\.remove|unlink|remove_tree|remove_all|deltree|delete_recursive\w*|\bfs(?:\.promises)?\.rm\w*|\brm|deletedirectory|delete_dir\w*|remove-item)\s*[(\s]([^;\n]{0,400})`)

// Homes are expressions for a home folder.
var Homes = lazy.Regexp(`(?i)^\s*(?:[\w.:]+\()?\s*(?:expanduser\(\s*["']~/?["']\s*\)|os\.path\.expanduser\(\s*["']~/?["']\s*\)|(?:pathlib\.)?path\.home\(\)|os\.homedir\(\)|(?:require\(["']os["']\)\.)?homedir\(\)|dir\.home|\$?env\[?[({."']*home["']?[\])}]?|os\.environ\[["']home["']\]|os\.getenv\(["']home["']\)|process\.env\.home|env\[["']home["']\])\s*[,)]`)

// QuotedText matches a text in quotes, as most languages write it.
var QuotedText = lazy.Regexp(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`[^`\n]*`")

// RunsPrograms reports whether a text looks like code that starts programs or
// deletes folders.
func RunsPrograms(text string) bool {
	if !strings.Contains(text, "(") {
		return false
	}
	low := strings.ToLower(text)
	for _, name := range []string{"system(", "exec(", "execsync(", "spawn(", "spawnsync(", "popen(", "eval(", "subprocess", "child_process", "__import__", "rmtree(", "removeall(", "rmsync(", "shell_exec(", "passthru(", "getruntime(", "processbuilder"} {
		if strings.Contains(low, name) {
			return true
		}
	}
	return false
}

// Connects reports whether program code looks as if it talked to another machine.
func Connects(text string) bool { return connecting().MatchString(text) }

var connecting = lazy.Regexp(`(?i)(?:https?|ftps?|wss?)://|socket|urlopen|urllib|requests\.|httpx|aiohttp|fetch\s*\(|axios|net/http|net::|http\.(?:client|request|post|put)|smtp|ftplib|paramiko|boto3|\blwp\b|curl|wget|xmlhttp|/dev/(?:tcp|udp)|\bdns\b|getaddrinfo|gethostby|tcp`)
