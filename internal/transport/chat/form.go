package chat

import "bufio"

type bodyForm int

const (
	formStream bodyForm = iota
	formLines
	formWhole
	formPage
)

// form says what a body is. Services that do not stream send a whole answer, and an
// address that is not an API sends a web page.
func form(kind string, body *bufio.Reader) bodyForm {
	switch kind {
	case "text/event-stream":
		return formStream
	case "application/x-ndjson", "application/jsonl", "application/jsonlines":
		return formLines
	}
	for n := 1; n <= 64; n++ {
		head, err := body.Peek(n)
		if err != nil {
			return formStream
		}
		switch head[n-1] {
		case ' ', '\t', '\r', '\n':
			continue
		case '{', '[':
			return formWhole
		case '<':
			return formPage
		}
		return formStream
	}
	return formStream
}
