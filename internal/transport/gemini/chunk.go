package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
)

// The JSON format of answers, the same for a chunk and a whole answer.
type (
	generated struct {
		Candidates []candidate     `json:"candidates"`
		Usage      *usage          `json:"usageMetadata"`
		Error      json.RawMessage `json:"error"`
		Feedback   *struct {
			Reason  string `json:"blockReason"`
			Message string `json:"blockReasonMessage"`
		} `json:"promptFeedback"`
	}
	candidate struct {
		Index   int    `json:"index"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
		Content struct {
			Parts []piece `json:"parts"`
		} `json:"content"`
	}
	piece struct {
		Text      string     `json:"text"`
		Thought   bool       `json:"thought"`
		Signature string     `json:"thoughtSignature"`
		Call      *pieceCall `json:"functionCall"`
	}
	pieceCall struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	usage struct {
		Prompt     base.Count `json:"promptTokenCount"`
		Tools      base.Count `json:"toolUsePromptTokenCount"`
		Cached     base.Count `json:"cachedContentTokenCount"`
		Candidates base.Count `json:"candidatesTokenCount"`
		Thoughts   base.Count `json:"thoughtsTokenCount"`
	}
)

// tokens maps the usage: the input excludes what was read from the cache, the
// output includes the thinking.
func (u *usage) tokens() *hermes.Usage {
	return &hermes.Usage{
		Input: int64(max(0, u.Prompt+u.Tools-u.Cached)), CacheRead: int64(u.Cached),
		Output: int64(u.Candidates + u.Thoughts), Reasoning: int64(u.Thoughts), Calls: 1,
	}
}

func isError(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "{}":
		return false
	}
	return true
}

// end reads a finish reason. Some of them are temporary failures.
func (a *answer) end(c *candidate) error {
	switch strings.ToUpper(c.Finish) {
	case "", "FINISH_REASON_UNSPECIFIED":
		return nil
	case "MAX_TOKENS":
		a.finish = hermes.FinishLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR":
		a.finish = hermes.FinishFilter
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE", "OTHER", "NO_IMAGE", "IMAGE_OTHER":
		return failure("server_error", "the model stopped with "+c.Finish+". "+c.Message)
	case "MISSING_THOUGHT_SIGNATURE":
		return failure("invalid_request", "a thinking signature is missing. "+c.Message)
	default:
		a.finish = hermes.FinishStop
	}
	return nil
}

// blocked is the failure of a prompt that the service refuses to answer.
func blocked(reason, message string) error {
	return failure("content_policy", "the prompt was blocked by the content policy ("+reason+"). "+message)
}

func failure(kind, message string) error {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "message": strings.TrimSpace(message)}})
	if err != nil {
		return err
	}
	return &fault.Failure{Status: 200, Body: body}
}

// translate sets the right status for a bad key: Google answers 400 and mentions
// the key only in the details.
func translate(err error) error {
	if f, ok := errors.AsType[*fault.Failure](err); ok && f.Status == http.StatusBadRequest && bytes.Contains(f.Body, []byte(`"API_KEY_INVALID"`)) {
		f.Status = http.StatusUnauthorized
	}
	return err
}
