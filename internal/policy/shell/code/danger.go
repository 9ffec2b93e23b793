package code

import (
	"regexp"
	"strings"
	"sync"
)

// Destroyers are functions of programming languages that delete what a path
// names and everything in it.
var Destroyers = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:rmtree|removeall|rm_rf|rm_r|remove_entry\w*|rmsync|rmdirsync|rimraf\w*|remove_dir\w*|removesync|deno\.remove|unlink|remove_tree|remove_all|deltree|delete_recursive\w*|\bfs(?:\.promises)?\.rm\w*|\brm|deletedirectory|delete_dir\w*|remove-item)\s*[(\s]([^;\n]{0,400})`)
})

// Homes are expressions for a home folder.
var Homes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(?:[\w.:]+\()?\s*(?:expanduser\(\s*["']~/?["']\s*\)|os\.path\.expanduser\(\s*["']~/?["']\s*\)|(?:pathlib\.)?path\.home\(\)|os\.homedir\(\)|(?:require\(["']os["']\)\.)?homedir\(\)|dir\.home|\$?env\[?[({."']*home["']?[\])}]?|os\.environ\[["']home["']\]|os\.getenv\(["']home["']\)|process\.env\.home|env\[["']home["']\])\s*[,)]`)
})

// QuotedText matches a text in quotes, as most languages write it.
var QuotedText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`[^`\n]*`")
})

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
