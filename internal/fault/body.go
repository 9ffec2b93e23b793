package fault

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes/internal/text"
)

// reading is what was found in a body.
type reading struct {
	message   string        // the innermost, which is nearest to the cause
	words     []string      // the texts, for the rules
	noted     int           // their length, in bytes
	codes     []string      // codes and types, lower case
	param     string        // the parameter that the body names
	status    int           // named inside the body
	window    int           // the context length that a field names, in tokens
	upstream  bool          // the error of another service, passed on
	resetSaid bool          // a field says when a limit ends
	delay     time.Duration // from a field: how long to wait
	resetAt   time.Time     // from a field: when the limit ends
}

const (
	maxMessage = 600 // characters
	maxText    = 16 << 10
	maxJSON    = 256 << 10
	maxDepth   = 8 // gateways that wrap gateways
	maxCodes   = 32
)

// read looks for message and code in an object (nested under "error" or flat),
// a list, a plain string, or text. A gateway may have wrapped the real error
// as JSON in the message itself, in the metadata's field "raw", or under its own
// names.
func (f *Failure) read() reading {
	var r reading
	body := bytes.TrimSpace(f.Body)
	if len(body) > 0 && body[0] == '<' {
		r.say(title(body))
		return r
	}
	if !r.parse(body, 0) && !r.events(body) && len(body) > 0 {
		r.say(string(body[:min(len(body), maxText)]))
	}
	return r
}

// parse reads JSON; it returns false if the text is not JSON.
func (r *reading) parse(raw []byte, depth int) bool {
	var v any
	if len(raw) > maxJSON || depth > maxDepth || json.Unmarshal(raw, &v) != nil {
		return false
	}
	r.value(v, depth)
	if r.message == "" && depth == 0 {
		r.anything(v, 0)
	}
	return true
}

// events reads the lines of an event stream: gateways answer like this if a
// stream fails before it begins.
func (r *reading) events(body []byte) bool {
	found := false
	for line := range bytes.Lines(body) {
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			found = r.parse(bytes.TrimSpace(data), 0) || found
		}
	}
	return found
}

// anything notes the texts of an object without a message, except for those
// that repeat the request.
func (r *reading) anything(v any, depth int) {
	switch v := v.(type) {
	case string:
		r.note(v)
	case []any:
		for _, item := range v[:min(len(v), 16)] {
			r.anything(item, depth+1)
		}
	case map[string]any:
		for k, item := range v {
			switch strings.ToLower(k) {
			case "input", "param", "loc", "ctx", "request", "messages", "tools", "prompt", "body", "failed_generation":
				continue
			}
			if depth < maxDepth {
				r.anything(item, depth+1)
			}
		}
	}
}

func (r *reading) value(v any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case string:
		r.open(v, depth)
	case []any:
		for _, item := range v[:min(len(v), 16)] {
			r.value(item, depth+1)
		}
	case map[string]any:
		r.object(v, depth)
	case float64, bool:
		r.say(jsonText(v))
	}
}

// object reads the outer fields first. Inner ones replace them, since they are
// nearer to the cause.
func (r *reading) object(o map[string]any, depth int) {
	for _, k := range []string{
		"title", "hint", "description", "error_description", "status_msg", "detail", "errorMessage", "error_message", "error_msg", "errmsg", "err", "msg", "Message", "message",
	} {
		if v := o[k]; v != nil && v != "" {
			r.value(v, depth+1)
		}
	}
	for _, k := range []string{"type", "__type", "status", "reason", "errorCode", "error_code", "error_type", "code"} {
		r.code(o[k])
	}
	if p, ok := o["param"].(string); ok {
		r.param = p
	}
	r.delays(o)
	r.windows(o)
	for _, k := range []string{"errors", "details", "response", "base_resp", "error"} {
		if v := o[k]; v != nil && v != "" {
			r.value(v, depth+1)
		}
	}
	if meta, ok := o["metadata"].(map[string]any); ok {
		r.metadata(meta, depth)
	}
}

// metadata reads the field in which aggregators pass on the error of the service
// behind them.
func (r *reading) metadata(meta map[string]any, depth int) {
	r.upstream = r.upstream || meta["provider_name"] != nil || meta["raw"] != nil
	r.delays(meta)
	if headers, ok := meta["headers"].(map[string]any); ok {
		r.delays(headers)
	}
	if raw := meta["raw"]; raw != nil && raw != "" {
		r.value(raw, depth+1)
	}
}

// code records a code, a type, or a status.
func (r *reading) code(v any) {
	switch v := v.(type) {
	case float64:
		r.number(int(v))
	case string:
		if n, err := strconv.Atoi(v); err == nil {
			r.number(n)
			return
		}
		if i := strings.LastIndexByte(v, '#'); i >= 0 {
			v = v[i+1:] // drop the name space before it
		}
		if c := strings.ToLower(v); c != "" && len(r.codes) < maxCodes && !slices.Contains(r.codes, c) {
			r.codes = append(r.codes, c)
		}
	}
}

func (r *reading) number(n int) {
	if n >= 400 && n < 600 {
		r.status = n
	}
}

// open reads a message, which may be JSON or contain it.
func (r *reading) open(s string, depth int) {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '{'); i >= 0 && depth < maxDepth && len(s) <= maxJSON {
		before := r.message
		r.message = ""
		var v any
		dec := json.NewDecoder(strings.NewReader(s[i:]))
		if dec.Decode(&v) == nil {
			r.value(v, depth+1)
		}
		if r.message != "" {
			r.note(s[:i])
			r.note(s[i+int(dec.InputOffset()):])
			return
		}
		r.message = before
	}
	r.say(s)
}

// say records a message.
func (r *reading) say(s string) {
	if s = strings.TrimSpace(s); s != "" {
		r.message = shorten(s)
		r.note(s)
	}
}

func (r *reading) note(s string) {
	if s = s[:min(len(s), maxText-r.noted)]; s != "" {
		r.words = append(r.words, s)
		r.noted += len(s)
	}
}

// title returns the title of an HTML page; the rest of it is markup.
func title(page []byte) string {
	lower := bytes.ToLower(page[:min(len(page), maxText)])
	_, rest, ok := bytes.Cut(lower, []byte("<title>"))
	text, _, closed := bytes.Cut(rest, []byte("</title>"))
	if !ok || !closed || len(lower) != len(page[:min(len(page), maxText)]) {
		return ""
	}
	from := len(lower) - len(rest)
	return string(page[from : from+len(text)])
}

func jsonText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// shorten makes a message fit on one line.
func shorten(s string) string { return text.Line(s[:min(len(s), maxText)], maxMessage) }
