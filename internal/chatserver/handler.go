package chatserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Handler is an http.Handler for /v1/chat/completions, /v1/models and /health (with and without
// the /v1). It keeps no state between requests; its fields must not change while it serves. It
// ignores keys.
type Handler struct {
	// Model is the name that the model list gives. Requests may name any model.
	Model string
	// Decide answers a well-formed request; it is called concurrently. An error becomes a 500.
	Decide func(*Request) (Answer, error)
	// Pace is the pause after each streamed piece (about a word); 0 streams at once.
	Pace time.Duration
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch strings.TrimPrefix(r.URL.Path, "/v1") {
	case "/chat/completions":
		h.completions(w, r)
	case "/models":
		h.models(w)
	case "/health", "/", "":
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "model": h.Model})
	default:
		fail(w, http.StatusNotFound, "not_found", fmt.Sprintf("there is nothing at %s %s; try POST /v1/chat/completions or GET /v1/models", r.Method, r.URL.Path))
	}
}

func (h *Handler) completions(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(w, http.StatusMethodNotAllowed, "method_not_allowed", "use POST for chat completions")
		return
	}
	req, err := read(r.Body)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	answer, err := h.Decide(req)
	if err != nil {
		fail(w, http.StatusInternalServerError, "server_error", err.Error())
		return
	}
	head := header{ID: "chatcmpl-" + h.Model, Created: time.Now().Unix(), Model: h.Model}
	if !req.Stream {
		writeJSON(w, http.StatusOK, whole(head, req, answer))
		return
	}
	s := newStream(w, head, h.Pace)
	// An error here means that the client is gone.
	_ = s.send(r.Context(), req, answer)
}

func (h *Handler) models(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data":   []map[string]any{{"id": h.Model, "object": "model", "created": 0, "owned_by": "hermes", "context_length": 131072}},
	})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // an error means that the client is gone
}

// fail writes an error in the shape that clients of the protocol expect.
func fail(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{
		"error": map[string]any{"message": message, "type": kind, "param": nil, "code": nil},
	})
}
