package archive

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// Document is a session to be written; Index counts those of a file from 0.
type Document struct {
	Session  hermes.Session
	Messages []hermes.Message
	Index    int
}

// Writer writes one document of a file. It does not close the file.
type Writer func(io.Writer, Document) error

// WriterOf returns the writer of a format: jsonl (also ""), md, html or trajectory. It is
// nil for an unknown one.
func WriterOf(format string) Writer {
	switch format {
	case "", "jsonl":
		return writeJSONL
	case "md":
		return writeMarkdown
	case "html":
		return writeHTML
	case "trajectory", "trace":
		return writeTrajectory
	}
	return nil
}

// Prompts returns the messages of the user, without hidden additions.
func Prompts(list []hermes.Message) []hermes.Message {
	var kept []hermes.Message
	for _, m := range list {
		if m.Role == hermes.RoleUser && !m.Synthetic {
			m.Parts = []hermes.Part{{Text: m.Visible()}}
			kept = append(kept, m)
		}
	}
	return kept
}

func writeJSONL(w io.Writer, d Document) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(Record{Session: SessionOf(d.Session), Messages: d.Messages})
}

// heading returns the title of a session, or its id.
func (d Document) heading() string {
	if d.Session.Title != "" {
		return d.Session.Title
	}
	return d.Session.ID
}

// speaker names the author of a message.
func speaker(m hermes.Message) string {
	switch {
	case m.Role == hermes.RoleTool && m.Failed:
		return m.ToolName + " (failed)"
	case m.Role == hermes.RoleTool:
		return m.ToolName
	case m.Role == hermes.RoleAssistant:
		return "Hermes"
	case m.Synthetic:
		return "Notice"
	}
	return "You"
}

func writeMarkdown(w io.Writer, d Document) error {
	var b strings.Builder
	if d.Index > 0 {
		b.WriteString("\n---\n\n")
	}
	fmt.Fprintf(&b, "# %s\n\n", text.Line(d.heading(), 200))
	fmt.Fprintf(&b, "`%s` · %s · %s · %s\n", d.Session.ID, d.Session.Platform, d.Session.Model, d.Session.Started.Format(time.RFC3339))
	for _, m := range d.Messages {
		fmt.Fprintf(&b, "\n## %s\n\n", speaker(m))
		said := strings.TrimRight(m.Visible(), "\n")
		if m.Role == hermes.RoleTool {
			said = fenced(said, "")
		}
		if said != "" {
			b.WriteString(said + "\n")
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "\n→ `%s`\n\n%s\n", c.Name, fenced(c.Arguments, "json"))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fenced puts a text between code fences longer than any in it.
func fenced(text, language string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence
}

const htmlHead = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
article{margin:1rem 0;padding:.5rem 1rem;border-left:4px solid #ccc}
.user{border-color:#27c}.assistant{border-color:#2a6}.tool{font-size:.85em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0;font-family:inherit}
.tool pre,.call{font-family:ui-monospace,monospace}.call{font-size:.85em}small{color:#777}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}}
</style>
`

func writeHTML(w io.Writer, d Document) error {
	var b strings.Builder
	if d.Index == 0 {
		b.WriteString(htmlHead)
		fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(text.Line(d.heading(), 200)))
	}
	fmt.Fprintf(&b, "<h1>%s</h1>\n<small>%s</small>\n", html.EscapeString(text.Line(d.heading(), 200)),
		html.EscapeString(strings.Join([]string{d.Session.ID, d.Session.Platform, d.Session.Model, d.Session.Started.Format(time.RFC3339)}, " · ")))
	for _, m := range d.Messages {
		fmt.Fprintf(&b, "<article class=%q><small>%s · %s</small>\n", m.Role, html.EscapeString(speaker(m)), m.Time.Format(time.DateTime))
		if said := m.Visible(); said != "" {
			fmt.Fprintf(&b, "<pre>%s</pre>\n", html.EscapeString(strings.ToValidUTF8(said, "\uFFFD")))
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "<div class=\"call\">→ %s %s</div>\n", html.EscapeString(c.Name), html.EscapeString(c.Arguments))
		}
		b.WriteString("</article>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
