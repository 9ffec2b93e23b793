package code

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
