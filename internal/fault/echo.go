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

// maxQuoted bounds a quoted name, in bytes. Longer quotations are sentences.
const maxQuoted = 200

// ownWords returns a text in lower case without what it repeats of the request:
// quoted names, quoted values, identifiers and addresses. Words of the protocols
// and codes of services stay. classes are the names of error classes in the
// text, in lower case.
func ownWords(s string) (text string, classes []string) {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := quoted(s, i); n > 0 {
			inside := s[i+1 : i+n-1]
			switch {
			case echoed(s[:i], inside):
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
		case class(token):
			classes = append(classes, strings.ToLower(token))
		case !identifier(token) && !introduced(s[:i]) || protocolWord(strings.ToLower(token)):
			b.WriteString(token)
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

// echoed reports whether a quotation is a part of the request: a name that is not
// of a protocol, or the value that the words before it announce.
func echoed(before, inside string) bool {
	if !strings.ContainsFunc(inside, unicode.IsSpace) {
		return !protocolWord(strings.ToLower(inside))
	}
	before = strings.ToLower(before[max(0, len(before)-24):])
	before = strings.TrimRight(before, " :=(")
	return slices.ContainsFunc([]string{"value", "got", "received", "input", "given", "content", "description", "name"}, func(word string) bool {
		return strings.HasSuffix(before, word)
	})
}

// tokenLen returns the length of the first word of s, or of the first character
// if that is no letter.
func tokenLen(s string) int {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		return strings.Index(s, "//") + 2
	}
	n := 0
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	if n > 0 {
		return n
	}
	_, n = utf8.DecodeRuneInString(s)
	return n
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

// identifier reports a name of a program: with an underscore, or with a capital
// after a small letter.
func identifier(token string) bool {
	for i := 1; i < len(token); i++ {
		if token[i] == '_' || token[i] >= 'A' && token[i] <= 'Z' && token[i-1] >= 'a' && token[i-1] <= 'z' {
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

// introduced reports whether the next word is the name of a tool.
func introduced(before string) bool {
	before = strings.ToLower(before[max(0, len(before)-24):])
	for _, lead := range []string{"unknown tool ", "unknown function ", "tool named ", "function named ", "for function ", "for tool ", "tool name ", "function name ", "tool: ", "function: "} {
		if strings.HasSuffix(before, lead) {
			return true
		}
	}
	return false
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

var (
	protocolWords = strings.Fields("messages input inputs prompt tools tool_choice tool_use tool_result tool_calls system model max_tokens max_completion_tokens " +
		"max_new_tokens max_output_tokens num_ctx n_ctx thinking redacted_thinking signature text image image_url input_image content role temperature stream " +
		"reasoning reasoning_effort reasoning_content encrypted_content budget_tokens auto context_window context_length max_model_len max_seq_len " +
		"clear_thinking data_policy json_schema_to_grammar")
	codeWords = strings.Fields("rate_limit rate_limited too_many_requests resource_exhausted context_length context_window exceed_context exceed_context_size model_context_window " +
		"max_context_length insufficient_quota insufficient_credit insufficient_credits billing_hard_limit_reached invalid_api_key model_not_found model_not_exist " +
		"overload overloaded content_policy content_filter invalid_request image_too_large request_too_large unsupported_parameter unknown_parameter " +
		"extra_forbidden invalid_grant deleted_client invalid_encrypted invalid_encrypted_content payload_too_large unsupported_value")
)
