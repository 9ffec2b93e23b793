package shell

import (
	"regexp"
	"strings"
	"sync"
)

var destructiveSQL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(drop\s+(table|database|schema|(materialized\s+)?view|index|role|user|tablespace|owned|trigger|function|procedure|type|sequence|extension|policy|column|constraint|keyspace)|truncate\s+(table\s+)?[\w."` + "`" + `\[]+|delete\s+from\s)`)
})

var sqlComment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)/\*.*?\*/`) })

var narrowedDelete = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)^delete\s+from\s[^;]*\bwhere\b`)
})

// sql looks for statements that delete tables or all their rows in the arguments
// and input of a command. It skips programs that only show, search or store
// text: to them it is data.
func (j *judge) sql(name string, args []string, in input) {
	switch name {
	case "echo", "printf", "cat", "grep", "egrep", "fgrep", "rg", "ag", "ack", "git", "gh", "tee", "sed", "awk", "less", "head", "tail", "find", "ls", "truncate":
		return
	}
	texts := args
	if isStatement(name) {
		texts = []string{name + " " + strings.Join(args, " ")}
	}
	for _, text := range append([]string{in.text}, texts...) {
		if len(text) > 8 && destroys(text) {
			j.ask("destructive-sql", "deletes database tables or all their rows")
			return
		}
	}
}

func isStatement(name string) bool { return name == "drop" || name == "delete" || name == "truncate" }

func destroys(text string) bool {
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
