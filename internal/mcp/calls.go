package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/text"
)

const (
	maxText   = 4 << 20 // bytes of text of one result
	maxImages = 8
	maxImage  = 10 << 20 // bytes
)

// calling is a call that runs.
type calling struct {
	host  hermes.Host
	token string
}

// hostKey is the key of the call that a context belongs to.
type hostKey struct{}

// begin counts a call, and bounds its time.
func (o *Server) begin(ctx context.Context, h hermes.Host) (context.Context, func()) {
	c := &calling{host: h}
	o.mu.Lock()
	o.calls[c] = true
	o.mu.Unlock()
	late := fmt.Errorf("the MCP server %s did not answer within %v", o.set.Name, o.set.Times.Call)
	ctx, cancel := context.WithTimeoutCause(context.WithValue(ctx, hostKey{}, c), o.set.Times.Call, late)
	return ctx, func() {
		cancel()
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.calls, c)
		o.used = o.cfg.Now()
	}
}

// follow shows the progress of a call to its user, while it runs.
func (o *Server) follow(ctx context.Context, set func(token any)) {
	c, ok := ctx.Value(hostKey{}).(*calling)
	if !ok {
		return
	}
	o.mu.Lock()
	o.tokens++
	c.token = "hermes-" + strconv.FormatInt(o.tokens, 10)
	token := c.token
	o.mu.Unlock()
	set(token)
}

// progress shows what a server says about a call.
func (o *Server) progress(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	token, _ := r.Params.ProgressToken.(string)
	o.mu.Lock()
	var host hermes.Host
	for c := range o.calls {
		if token != "" && c.token == token {
			host = c.host
		}
	}
	o.mu.Unlock()
	if host == nil {
		return
	}
	line := text.OneLine(text.Plain(r.Params.Message), 200)
	if r.Params.Total > 0 {
		line = strings.TrimSpace(fmt.Sprintf("%s %.0f of %.0f", line, r.Params.Progress, r.Params.Total))
	} else if line == "" {
		line = fmt.Sprintf("%.0f", r.Params.Progress)
	}
	host.Progress(line)
}

// asker returns the call for which a server asks something: the one that the request belongs
// to, else the only one that runs. If several sessions could be meant, there is no answer.
func (o *Server) asker(ctx context.Context) (hermes.Host, bool) {
	if c, ok := ctx.Value(hostKey{}).(*calling); ok {
		return c.host, true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var host hermes.Host
	for c := range o.calls {
		if host != nil && host.Session().ID != c.host.Session().ID {
			return nil, false
		}
		host = c.host
	}
	return host, host != nil
}

// result is what a call returns to the model.
func (o *Server) result(r *mcp.CallToolResult) hermes.Result {
	out := o.content(r.Content)
	out.Failed = r.IsError
	if r.StructuredContent != nil {
		if data, err := json.Marshal(r.StructuredContent); err == nil && !sameJSON(out.Text, data) {
			out.Text = strings.TrimSpace(out.Text + "\n" + string(data))
		}
	}
	out.Text = text.Cut(text.Plain(out.Text), maxText)
	if r.IsError {
		was := out.Images
		out = hermes.ErrorResult(out.Text)
		out.Images = was
	}
	return out
}

// sameJSON reports whether a text is the same value as some JSON.
func sameJSON(s string, data []byte) bool {
	var a, b any
	if json.Unmarshal([]byte(s), &a) != nil || json.Unmarshal(data, &b) != nil {
		return false
	}
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// content turns the parts of a result into text and pictures.
func (o *Server) content(list []mcp.Content) hermes.Result {
	var out hermes.Result
	var texts []string
	for _, c := range list {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			if len(out.Images) >= maxImages || len(c.Data) > maxImage || !strings.HasPrefix(c.MIMEType, "image/") {
				texts = append(texts, fmt.Sprintf("[a picture of %s that is left out]", text.Size(int64(len(c.Data)))))
				continue
			}
			out.Images = append(out.Images, hermes.Image{MediaType: text.OneLine(c.MIMEType, 60), Data: c.Data})
		case *mcp.AudioContent:
			texts = append(texts, fmt.Sprintf("[audio %s, %s, that cannot be shown here]", text.OneLine(c.MIMEType, 60), text.Size(int64(len(c.Data)))))
		case *mcp.ResourceLink:
			texts = append(texts, strings.TrimSpace(fmt.Sprintf("[resource %s %s] %s", text.OneLine(c.URI, 500), text.OneLine(c.Name, 200), c.Description)))
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				texts = append(texts, resource(c.Resource))
			}
		default:
			texts = append(texts, "[content of a kind that is not known here]")
		}
	}
	out.Text = strings.Join(texts, "\n")
	return out
}

// resource is the text of a resource, or what it is.
func resource(r *mcp.ResourceContents) string {
	if len(r.Blob) > 0 {
		if strings.HasPrefix(r.MIMEType, "text/") || r.MIMEType == "application/json" {
			return string(r.Blob)
		}
		if len(r.Blob) <= 8<<10 {
			return fmt.Sprintf("[resource %s, %s, in base64]\n%s", text.OneLine(r.URI, 500), text.OneLine(r.MIMEType, 60), base64.StdEncoding.EncodeToString(r.Blob))
		}
		return fmt.Sprintf("[resource %s, %s, %s, that is not text]", text.OneLine(r.URI, 500), text.OneLine(r.MIMEType, 60), text.Size(int64(len(r.Blob))))
	}
	return r.Text
}
