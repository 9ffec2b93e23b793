package fault

import (
	"regexp"
	"strconv"
	"strings"

	"hermes/internal/lazy"
)

// Window returns the context length, in tokens, that a field of a refusal names,
// such as the n_ctx of llama.cpp's server; 0 if there is none.
func Window(err error) int {
	f, ok := find[*Failure](chainOf(err))
	if !ok {
		return 0
	}
	return f.read().window
}

// windows reads the fields in which servers say how long the context is.
func (r *reading) windows(o map[string]any) {
	for k, v := range o {
		switch strings.ToLower(k) {
		case "n_ctx", "max_context_length", "context_length", "context_window", "max_model_len", "max_input_tokens":
			if n, ok := v.(float64); ok && n >= 1 && n <= 1<<30 {
				r.window = int(n)
			}
		}
	}
}

// Allowance returns how many tokens a service takes in one minute, if it refused a
// single request because it alone is larger than that; 0 for other failures. Waiting
// does not help then, only a shorter request.
func Allowance(err error) int {
	f := gather(Question{Err: err})
	if f.failure == nil || !f.neverFits() {
		return 0
	}
	limit, _ := allowance(f.whole)
	return limit
}

// barred reports a limit of speed or quota that is zero: the key may not use the model,
// however long one waits. OpenAI writes "Limit 0, Used 0, Requested 1" or "Limit: 0 / min",
// Gemini "limit: 0, model: x", Anthropic "rate limit of 0 input tokens per minute", GitHub
// "Rate limit of 0 per 60s".
func (f *facts) barred() bool {
	return f.failure != nil && (f.rated() || f.has("quota")) && zero().MatchString(f.whole)
}

var zero = lazy.Regexp(`\blimit(?: for your organization)?(?: \([^()]*\))?(?: of| is|:)? ?0(?:[^0-9.,]|[.,](?:[^0-9]|$)|$)`)

// neverFits reports a limit of tokens in a time that one request exceeds.
func (f *facts) neverFits() bool {
	if !f.has("tokens per|tpm|tpd") {
		return false
	}
	limit, requested := allowance(f.whole)
	return requested > limit && limit > 0 || requested == 0 && f.has("request too large for")
}

var (
	allowed = lazy.Regexp(`\blimit\b:? ?([0-9][0-9,_]*)`)
	wanted  = lazy.Regexp(`\brequested\b:? ?(?:about |~)?([0-9][0-9,_]*)`)
)

// allowance reads "Limit 30000, Requested 45000" of OpenAI, Groq and others, in lower
// case; 0 is unknown.
func allowance(text string) (limit, requested int) {
	number := func(re *regexp.Regexp) int {
		m := re.FindStringSubmatch(text)
		if m == nil {
			return 0
		}
		n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(m[1]))
		if err != nil || n > 1<<30 {
			return 0
		}
		return n
	}
	return number(allowed()), number(wanted())
}

// Missing returns what the model or its server cannot do at all, although the
// request asked for it: "tools", "thinking" or "images"; "" for other failures.
// The same request may succeed without it.
func Missing(err error) string {
	f := gather(Question{Err: err})
	if f.failure == nil {
		return ""
	}
	switch f.status {
	case 0, 200, 400, 404, 415, 422, 500, 501:
		return f.lacks()
	}
	return ""
}

// lacks returns what the text says that the model cannot do.
func (f *facts) lacks() string {
	switch {
	case f.has(noToolsWords):
		return "tools"
	case f.has(noImagesWords) && !f.has("tool result|tool message|results"):
		return "images"
	case f.has(noThinkingWords):
		return "thinking"
	}
	return ""
}

// The words with which servers say what a model cannot do: Ollama, llama.cpp,
// vLLM, LM Studio, OpenRouter, OpenAI, Mistral, Groq, DeepSeek, Together.
const (
	noToolsWords = "does not support tools|does not support tool|doesn't support tools|does not support function call|do not support tools|tools are not supported|" +
		"tool use is not supported|tool calling is not supported|tool calls are not supported|function calling is not supported|function calling is not enabled|" +
		"function call is not supported|support tool use|tool choice requires --enable-auto-tool-choice|tools param requires|requires --jinja|" +
		"tools is not supported|does not support function|without tool support"
	noImagesWords = "image input is not supported|image input is not enabled|image inputs are not supported|images are not supported|image content is not supported|" +
		"support image input|does not support images|does not support image|doesn't support image|do not support image|does not support vision|image_url is only supported by|" +
		"not a multimodal model|not a vision model|data required for image input|vision is not supported|does not accept image|unknown variant image_url|" +
		"no image support|cannot process images|multimodal is not supported|need to provide the mmproj"
	noThinkingWords = "does not support thinking|does not support reasoning|doesn't support thinking|thinking is not supported|reasoning is not supported|" +
		"thinking is not available|does not support the thinking|does not support extended thinking|not support enable_thinking"
)
