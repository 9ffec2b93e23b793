package tui

import (
	"fmt"
	"time"

	"hermes/internal/markup"
)

// Display is how the user wants things shown. It comes from the display
// section of the configuration.
type Display struct {
	// Reasoning shows the model's thinking, dimmed.
	Reasoning bool
	// Calls says which tool calls are shown.
	Calls CallsShown
	// PreviewLength cuts the main argument of a call; 0 fits it to the line.
	PreviewLength int
	// Summary ends each turn with a line of time, steps and tokens.
	Summary bool
	// BellDone and BellAsk ring when a turn ends or a question comes up.
	BellDone, BellAsk bool
	// NoColor disables colours; attributes such as bold stay.
	NoColor bool
	// Plain disables escape sequences and the live region.
	Plain bool
}

// CallsShown says which tool calls are shown.
type CallsShown string

// The values of CallsShown; empty is all.
const (
	CallsOff     CallsShown = "off"
	CallsNew     CallsShown = "new" // only when the tool differs from the last call's
	CallsAll     CallsShown = "all"
	CallsVerbose CallsShown = "verbose" // with arguments and results
)

// maxProse is the maximum width of prose; longer lines are hard to read.
const maxProse = 120

// theme paints text in the styles of the chat.
type theme struct{ d Display }

func (t theme) paint(s markup.Style, text string) string {
	if t.d.Plain {
		return text
	}
	if t.d.NoColor {
		s.Color = 0
	}
	return s.Paint(text)
}

// Faint is for secondary text: gray, or dim without colours.
func (t theme) Faint(text string) string {
	if t.d.NoColor {
		return t.paint(markup.Style{Attr: markup.Dim}, text)
	}
	return t.paint(markup.Style{Color: markup.Gray}, text)
}

func (t theme) Strong(text string) string {
	return t.paint(markup.Style{Attr: markup.Bold}, text)
}

func (t theme) Warn(text string) string {
	return t.paint(markup.Style{Color: markup.Yellow}, text)
}

func (t theme) Bad(text string) string {
	return t.paint(markup.Style{Color: markup.Red}, text)
}

func (t theme) Accent(text string) string {
	return t.paint(markup.Style{Color: markup.Cyan}, text)
}

// prose are the options for text of the model at a width.
func (t theme) prose(width int) markup.Options {
	return markup.Options{Width: min(width, maxProse), NoColor: t.d.NoColor, Plain: t.d.Plain}
}

// took writes a duration for people: 12 ms, 3.4 s, 2 m 05 s.
func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d m %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %02d m", int(d.Hours()), int(d.Minutes())%60)
}
