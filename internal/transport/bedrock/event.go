package bedrock

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
)

// The JSON format of answers. The kind of an event is in a header of its frame.
type (
	event struct {
		Index int `json:"contentBlockIndex"`
		Start struct {
			Use *useStart `json:"toolUse"`
		} `json:"start"`
		Delta struct {
			Text string `json:"text"`
			Use  *struct {
				Input string `json:"input"`
			} `json:"toolUse"`
			Reasoning *reasoningDelta `json:"reasoningContent"`
		} `json:"delta"`
		StopReason string `json:"stopReason"`
		Usage      *usage `json:"usage"`
	}
	useStart struct {
		ID   string `json:"toolUseId"`
		Name string `json:"name"`
	}
	reasoningDelta struct {
		Text      string `json:"text"`
		Signature string `json:"signature"`
		Redacted  []byte `json:"redactedContent"`
	}
	whole struct {
		Output *struct {
			Message struct {
				Content []block `json:"content"`
			} `json:"message"`
		} `json:"output"`
		StopReason string `json:"stopReason"`
		Usage      *usage `json:"usage"`
	}
	usage struct {
		Input      base.Count `json:"inputTokens"`
		Output     base.Count `json:"outputTokens"`
		CacheRead  base.Count `json:"cacheReadInputTokens"`
		CacheWrite base.Count `json:"cacheWriteInputTokens"`
	}
)

// tokens maps the usage. In this protocol, input already excludes the cache.
func (u *usage) tokens() *hermes.Usage {
	return &hermes.Usage{
		Input: int64(u.Input), Output: int64(u.Output), CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite), Calls: 1,
	}
}

// finishOf reads a stop reason. Some of them are temporary failures.
func finishOf(reason string) (hermes.Finish, error) {
	switch reason {
	case "tool_use":
		return hermes.FinishCalls, nil
	case "max_tokens", "model_context_window_exceeded":
		return hermes.FinishLength, nil
	case "guardrail_intervened", "content_filtered":
		return hermes.FinishFilter, nil
	case "malformed_model_output", "malformed_tool_use":
		return "", refusal(http.StatusInternalServerError, "the model stopped with "+reason)
	}
	return hermes.FinishStop, nil
}

// exception is an error inside a stream, by the name in its frame.
func exception(name string, body []byte) error {
	f := &fault.Failure{Status: statusOf(name), Body: body}
	if len(body) == 0 {
		f.Body = []byte(`{"message":"` + http.StatusText(f.Status) + `"}`)
	}
	return f
}

func statusOf(name string) int {
	switch strings.ToLower(name) {
	case "validationexception":
		return http.StatusBadRequest
	case "accessdeniedexception", "unrecognizedclientexception", "expiredtokenexception":
		return http.StatusForbidden
	case "resourcenotfoundexception":
		return http.StatusNotFound
	case "throttlingexception", "modelnotreadyexception", "servicequotaexceededexception":
		return http.StatusTooManyRequests
	case "modeltimeoutexception":
		return http.StatusRequestTimeout
	case "serviceunavailableexception":
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// translate moves the type of an error from a header to the body, where it is
// looked for. A model that failed (status 424) may succeed the next time.
func translate(err error) error {
	f, ok := errors.AsType[*fault.Failure](err)
	if !ok || f.Header == nil {
		return err
	}
	name, _, _ := strings.Cut(f.Header.Get("X-Amzn-Errortype"), ":")
	if f.Status == http.StatusFailedDependency {
		f.Status = http.StatusInternalServerError
	}
	var said struct {
		Message string `json:"message"`
		Upper   string `json:"Message"`
	}
	if name == "" || json.Unmarshal(f.Body, &said) != nil {
		return err
	}
	message := said.Message
	if message == "" {
		message = said.Upper
	}
	if body, bad := json.Marshal(map[string]string{"type": name, "message": message}); bad == nil {
		f.Body = body
	}
	return err
}
