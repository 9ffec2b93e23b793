package shell

import "strings"

// alias judges the text of aliases and remembers them.
func (j *judge) alias(words []string) {
	for _, a := range words {
		name, text, ok := strings.Cut(a, "=")
		if !ok {
			continue
		}
		j.inSubshell(func() { j.script(scriptText(text)) })
		if j.aliases == nil {
			j.aliases = map[string]string{}
		}
		if len(j.aliases) >= maxVariables || len(text) > maxValue {
			j.exhausted()
			return
		}
		j.aliases[name] = scriptText(text)
	}
}

// callAlias judges the text of an alias with the words after it. A shell does not
// replace the same alias twice.
func (j *judge) callAlias(name string, rest []string) {
	text, ok := j.aliases[name]
	if !ok || j.depth >= maxDepth {
		return
	}
	j.depth++
	delete(j.aliases, name)
	j.script(text + quoted(rest))
	j.aliases[name] = text
	j.depth--
}

// quoted writes words, each after a space, so that a shell reads them as they
// are.
func quoted(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(" '")
		for i := range len(w) {
			switch {
			case w[i] == '\'':
				b.WriteString(`'\''`)
			case w[i] == unknown[0]:
				b.WriteString(`'"${` + unknownName + `}"'`)
			case strings.IndexByte(marks, w[i]) < 0:
				b.WriteByte(w[i])
			}
		}
		b.WriteByte('\'')
	}
	return b.String()
}
