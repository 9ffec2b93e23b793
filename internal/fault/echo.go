package fault

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Services repeat parts of a request in their errors: names of tools and fields,
// values, addresses. Such a name must not decide the class, or a tool called
// get_billing_report would make an error about its schema one about money.

// maxQuoted bounds a quotation, in bytes.
const maxQuoted = 4096

// ownWords returns a text in lower case without what it repeats of the request:
// names, quotations and addresses. Words of the protocols and codes of services
// stay. classes are the names of error classes in the text, in lower case.
func ownWords(s string) (text string, classes []string) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := quoted(s, i); n > 0 {
			inside := s[i+1 : i+n-1]
			switch {
			case !own(s[:i], inside, s[i+n:]):
			case strings.ContainsFunc(inside, unicode.IsSpace):
				n = 1 // a sentence, whose words are read one by one
			default:
				b.WriteString(inside)
			}
			i += n
			continue
		}
		n := tokenLen(s[i:])
		token := s[i : i+n]
		switch {
		case token == `"`, token == "`": // the end of a quotation
		case strings.HasPrefix(token, "http://"), strings.HasPrefix(token, "https://"):
			n += strings.IndexFunc(s[i+n:]+" ", unicode.IsSpace)
		case !wordByte(token[0]):
			b.WriteString(token)
		case introduced(s[:i], token, s[i+n:]):
		default:
			if end := sentenceEnd(token); end > 0 {
				n, token = end, token[:end]
			}
			if name := token[strings.LastIndexAny(token, "./")+1:]; class(name) {
				classes = append(classes, strings.ToLower(name))
			} else if !identifier(token) || protocolWord(strings.ToLower(token)) {
				b.WriteString(token)
			}
		}
		i += n
	}
	lines := strings.Split(strings.ToLower(b.String()), "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	return strings.Join(lines, "\n"), classes
}

// quoted returns the length of the quotation at the beginning of s[i:], with its
// marks; 0 if there is none. An apostrophe within a word opens none.
func quoted(s string, i int) int {
	mark := s[i]
	if mark != '\'' && mark != '"' && mark != '`' || i > 0 && wordByte(s[i-1]) {
		return 0
	}
	rest := s[i+1 : min(len(s), i+1+maxQuoted)]
	for from := 0; ; {
		end := strings.IndexByte(rest[from:], mark)
		if end < 0 {
			return 0
		}
		end += from
		if mark != '\'' || end+1 >= len(rest) || !wordByte(rest[end+1]) {
			return end + 2
		}
		from = end + 1 // an apostrophe within the quotation
	}
}

// own reports whether a quotation is the service's own: a code, or a text that is
// announced as a message. Others are parts of the request.
func own(before, inside, after string) bool {
	lead := leadOf(before)
	word := strings.ToLower(inside)
	spaced := strings.ContainsFunc(inside, unicode.IsSpace)
	switch {
	case slices.Contains(nameLeads, lead), slices.Contains(valueLeads, lead):
		return false
	case lead == "metric", lead == "limit": // Google quotes what it counts
		return spaced
	case !spaced && protocolWord(word), word == "tool calling", word == "tool use":
		return true
	}
	after = strings.TrimLeft(after[:min(len(after), 24)], " .!\"'`")
	if after != "" && !strings.ContainsRune(",;)]}\n", rune(after[0])) {
		return false // a part of a sentence
	}
	return lead == "" || slices.Contains([]string{"message", "msg", "detail", "reason"}, lead) || lead == "error" && spaced
}

// leadOf returns the last word of a text in lower case, without the marks after it.
func leadOf(before string) string {
	before = strings.TrimRight(before[max(0, len(before)-24):], " :=('\"`{[")
	start := len(before)
	for start > 0 && wordByte(before[start-1]) {
		start--
	}
	return strings.ToLower(before[start:])
}

// tokenLen returns the length of the first word of s, or of the first character
// if that is no letter. Words that are joined without a blank are one.
func tokenLen(s string) int {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return strings.Index(s, "//") + 2
	}
	n := 0
	for n < len(s) && (wordByte(s[n]) || n > 0 && n+1 < len(s) && strings.IndexByte("-./", s[n]) >= 0 && wordByte(s[n+1])) {
		n++
	}
	if n > 0 {
		return n
	}
	_, n = utf8.DecodeRuneInString(s)
	return n
}

// sentenceEnd returns where a sentence ends in a token such as exceeded.Please,
// which lacks a blank; 0 if none does.
func sentenceEnd(token string) int {
	first, next, ok := strings.Cut(token, ".")
	if !ok || len(first) < 2 || strings.ContainsAny(first, "-/") || len(next) < 2 || lower(next[0]) == next[0] || next[0] == '_' {
		return 0
	}
	if word, _, _ := strings.Cut(next, "-"); strings.ToLower(word[1:]) != word[1:] || strings.ContainsAny(word, "._/") || identifier(first) {
		return 0
	}
	return len(first)
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || lower(c) >= 'a' && lower(c) <= 'z'
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// identifier reports a name of a program: words that are joined, or a capital after
// a small letter. Quantities such as 1.5s and 5-hour are none.
func identifier(token string) bool {
	quantity := true
	for part := range strings.FieldsFuncSeq(token, func(c rune) bool { return strings.ContainsRune("-./", c) }) {
		digit := part[0] >= '0' && part[0] <= '9'
		quantity = quantity && (digit && !strings.Contains(part, "_") || unitOf(strings.ToLower(part)) > 0)
	}
	if quantity {
		return false
	}
	for i := 1; i < len(token); i++ {
		if strings.IndexByte("_-./", token[i]) >= 0 || token[i] >= 'A' && token[i] <= 'Z' && token[i-1] >= 'a' && token[i-1] <= 'z' {
			return true
		}
	}
	return false
}

// class reports the name of an error class, such as RateLimitError.
func class(token string) bool {
	return len(token) > 9 && token[0] >= 'A' && token[0] <= 'Z' && !strings.Contains(token, "_") &&
		(strings.HasSuffix(token, "Error") || strings.HasSuffix(token, "Exception") || strings.EqualFold(token, "ResourceExhausted"))
}

// introduced reports whether a word is a name by the words around it, as in
// "tool billing not found".
func introduced(before, word, after string) bool {
	lead := leadOf(before)
	if lead == "" || slices.Contains(plainAfter, strings.ToLower(word)) {
		return false
	}
	tail := strings.ToLower(strings.TrimRight(before[max(0, len(before)-24):], " "))
	switch {
	case slices.Contains(nameLeads, lead):
		return true
	case lead == "model": // "model overloaded" is no name
		after = strings.ToLower(after[:min(len(after), 16)])
		return slices.ContainsFunc([]string{" not found", " does not", " not exist", " is not", " was not", " is no longer", " has been de"}, func(says string) bool {
			return strings.HasPrefix(after, says)
		})
	case lead == "value":
		return strings.HasSuffix(tail, ":")
	}
	return lead == "named" || strings.HasSuffix(tail, "tool name") || strings.HasSuffix(tail, "function name")
}

// protocolWord reports a field of a protocol, or a code of a service. Nothing of a
// user's is named like that.
func protocolWord(word string) bool {
	if slices.Contains(protocolWords, word) {
		return true
	}
	for _, end := range []string{"_error", "_exceeded", "_violation", "_exception"} {
		word = strings.TrimSuffix(word, end)
	}
	return slices.Contains(codeWords, word)
}

// nameLeads are words that the name of a part of a request follows, plainAfter those
// that follow them in sentences and are no names. valueLeads announce quotations of
// the request.
var (
	nameLeads  = strings.Fields("tool function parameter argument property field schema")
	valueLeads = strings.Fields("model value name named got received given input content description")
	plainAfter = strings.Fields("message messages result results use calling call calls choice is are was has have does do must may can cannot not in of for to with without and or " +
		"name named names param params parameter parameters argument arguments property field schema schemas input content type types definition value support required id identifier")
)

var (
	protocolWords = strings.Fields("messages input inputs prompt tools tool_choice tool_use tool_result tool_calls system model max_tokens max_completion_tokens " +
		"max_new_tokens max_output_tokens num_ctx n_ctx thinking redacted_thinking signature text image image_url input_image content role temperature stream " +
		"reasoning reasoning_effort reasoning_content encrypted_content budget_tokens auto context_window context_length max_model_len max_seq_len " +
		"clear_thinking data_policy json_schema_to_grammar " +
		"rate-limit rate-limits rate-limited rate-limiting free-tier resource-exhausted json-schema-to-grammar many-image x-api-key self-signed enable-auto-tool-choice")
	codeWords = strings.Fields("rate_limit rate_limited too_many_requests resource_exhausted context_length context_window exceed_context exceed_context_size model_context_window " +
		"max_context_length insufficient_quota insufficient_credit insufficient_credits billing_hard_limit_reached invalid_api_key model_not_found model_not_exist " +
		"overload overloaded content_policy content_filter invalid_request image_too_large request_too_large unsupported_parameter unknown_parameter " +
		"extra_forbidden invalid_grant deleted_client invalid_encrypted invalid_encrypted_content payload_too_large unsupported_value")
)
