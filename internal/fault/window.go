package fault

import "strings"

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
