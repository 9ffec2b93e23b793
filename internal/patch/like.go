package patch

import "strings"

// Like gives a whole new text the line ends and the byte order mark of the text
// that it replaces, since a model does not see them. kept says what was kept,
// "" if nothing was. The line ends stay if new has CRLF itself or old mostly
// has plain line feeds.
func Like(old, new string) (text, kept string) {
	if old == "" {
		return new, ""
	}
	var what []string
	text = strings.TrimPrefix(new, bom)
	crlf := strings.Count(old, "\r\n")
	if crlf > strings.Count(old, "\n")/2 && !strings.Contains(text, "\r\n") && strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
		what = append(what, "CRLF line ends")
	}
	switch {
	case strings.HasPrefix(new, bom):
		text = bom + text
	case strings.HasPrefix(old, bom):
		text = bom + text
		what = append(what, "its byte order mark")
	}
	return text, strings.Join(what, " and ")
}
