//go:build slow && unix

package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// picture is a PNG of one pixel, and sound an empty WAV.
const (
	picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"
	sound   = "RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"
)

// AddFixtures adds the tools, resources and prompts that the public suite calls by name.
func (s *Server) AddFixtures() {
	text := func(t string) mcp.Content { return &mcp.TextContent{Text: t} }
	image := &mcp.ImageContent{Data: []byte(picture), MIMEType: "image/png"}
	embedded := func(uri, mime, t string) mcp.Content {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mime, Text: t}}
	}
	fixed := func(name string, contents ...mcp.Content) {
		mcp.AddTool(s.mcp, &mcp.Tool{Name: name, Description: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: contents}, nil, nil
		})
	}
	fixed("test_simple_text", text("This is a simple text response for testing."))
	fixed("test_image_content", image)
	fixed("test_audio_content", &mcp.AudioContent{Data: []byte(sound), MIMEType: "audio/wav"})
	fixed("test_embedded_resource", embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))
	fixed("test_multiple_content_types", text("Multiple content types test:"), image, embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))
	mcp.AddTool(s.mcp, &mcp.Tool{Name: "test_error_handling", Description: "Fails"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("this tool intentionally returns an error for testing")
	})
	mcp.AddTool(s.mcp, &mcp.Tool{Name: "test_tool_with_progress", Description: "Reports progress"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		for _, at := range []float64{0, 50, 100} {
			if err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: at, Total: 100}); err != nil {
				return nil, nil, err
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{text("done")}}, nil, nil
	})
	read := func(mime string, content func(uri string) *mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := content(r.Params.URI)
			c.URI, c.MIMEType = r.Params.URI, mime
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
		}
	}
	s.mcp.AddResource(&mcp.Resource{URI: "test://static-text", Name: "text", MIMEType: "text/plain"}, read("text/plain", func(string) *mcp.ResourceContents {
		return &mcp.ResourceContents{Text: "This is the content of the static text resource."}
	}))
	s.mcp.AddResource(&mcp.Resource{URI: "test://static-binary", Name: "binary", MIMEType: "image/png"}, read("image/png", func(string) *mcp.ResourceContents {
		return &mcp.ResourceContents{Blob: []byte(picture)}
	}))
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"}, read("application/json", func(uri string) *mcp.ResourceContents {
		id := strings.TrimSuffix(strings.TrimPrefix(uri, "test://template/"), "/data")
		return &mcp.ResourceContents{Text: `{"id":"` + id + `","templateTest":true,"data":"Data for ID: ` + id + `"}`}
	}))
	prompt := func(p *mcp.Prompt, messages func(args map[string]string) []mcp.Content) {
		s.mcp.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			var out mcp.GetPromptResult
			for _, c := range messages(r.Params.Arguments) {
				out.Messages = append(out.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return &out, nil
		})
	}
	prompt(&mcp.Prompt{Name: "test_simple_prompt", Description: "simple"}, func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	})
	prompt(&mcp.Prompt{Name: "test_prompt_with_arguments", Description: "arguments", Arguments: []*mcp.PromptArgument{{Name: "arg1", Required: true}, {Name: "arg2", Required: true}}}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{text("Prompt with arguments: arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'")}
	})
	prompt(&mcp.Prompt{Name: "test_prompt_with_embedded_resource", Description: "resource", Arguments: []*mcp.PromptArgument{{Name: "resourceUri", Required: true}}}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{embedded(a["resourceUri"], "text/plain", "Embedded resource content for testing."), text("Please process the embedded resource above.")}
	})
	prompt(&mcp.Prompt{Name: "test_prompt_with_image", Description: "image"}, func(map[string]string) []mcp.Content {
		return []mcp.Content{image, text("Please analyze the image above.")}
	})
}

// WithToken adds a token to all requests, as a client that has it does.
func WithToken(next http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
		next.ServeHTTP(w, r)
	})
}
