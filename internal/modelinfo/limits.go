package modelinfo

import "strings"

// The bounds of a plausible context limit, in tokens.
const (
	leastLimit = 1_000
	mostLimit  = 20_000_000
)

// StepDown returns the next smaller window to try for a model with an unknown
// limit, after a request of this many tokens was too large: 256K, 128K, 64K, 32K,
// 16K, 8K; 0 if there is none left.
func StepDown(window int) int {
	for w := 256 << 10; w >= 8<<10; w /= 2 {
		if w < window || window <= 0 {
			return w
		}
	}
	return 0
}

// LimitIn reads the context limit, in tokens, out of the text with which a
// service refused a request. It takes the number that is called a limit, not
// the size of the request. It returns 0 if there is none or it is implausible.
func LimitIn(text string) int {
	text = strings.ToLower(text)
	if _, after, ok := strings.Cut(text, "range of input length should be [1,"); ok {
		if n := firstNumber(after); plausible(n) {
			return n
		}
	}
	if _, after, ok := strings.Cut(text, "exceed context limit:"); ok { // "190000 + 21000 > 200000"
		if _, after, ok = strings.Cut(after, ">"); ok && plausible(firstNumber(after)) {
			return firstNumber(after)
		}
	}
	if before, _, ok := strings.Cut(text, " maximum context length"); ok { // "model with 32768 maximum context length"
		if n := lastNumber(before); plausible(n) {
			return n
		}
	}
	for _, mark := range []string{
		"maximum context length is", "maximum context length:", "maximum prompt length is", "while limit is", "only supports up to", "must have less than",
		"max_new_tokens` must be <=", "max_new_tokens must be <=", "max_new_tokens' must be <=", "in the prompt cannot exceed", "maximum allowed input length is", "maximum context length of", "context length is", "context length of",
		"context window is", "context window of", "context window (", "context size (", "available context size (",
		"model's context length (", "maximum context of", "max_model_len", "max model len", "n_ctx", "context limit of", "context limit is",
		"maximum number of tokens allowed (", "maximum allowed number of input tokens (", "token limit of", "token limit:", "token limit is",
		"maximum number of tokens", "tokens in request more than max tokens allowed", "maximum of", "limit of", "maximum is",
	} {
		if _, after, ok := strings.Cut(text, mark); ok {
			if n := firstNumber(after); plausible(n) {
				return n
			}
		}
	}
	// "200123 tokens > 200000 maximum"
	if _, after, ok := strings.Cut(text, "tokens >"); ok {
		if n := firstNumber(after); plausible(n) {
			return n
		}
	}
	return 0
}

// lastNumber reads the number at the end of a text.
func lastNumber(s string) int {
	start := len(s)
	for start > 0 && (s[start-1] >= '0' && s[start-1] <= '9' || s[start-1] == ',') {
		start--
	}
	return firstNumber(s[start:])
}

func plausible(n int) bool { return n >= leastLimit && n <= mostLimit }

// firstNumber reads the number at the beginning of a text, after at most a few
// words and signs.
func firstNumber(s string) int {
	start := strings.IndexAny(s, "0123456789")
	if start < 0 || start > 24 {
		return 0
	}
	n, seen := 0, 0
	for _, r := range s[start:] {
		switch {
		case r >= '0' && r <= '9':
			if seen++; seen > 9 {
				return 0
			}
			n = n*10 + int(r-'0')
		case r == ',' || r == '_':
		case r == 'k':
			return n * 1000
		case r == 'm':
			return n * 1_000_000
		default:
			return n
		}
	}
	return n
}
