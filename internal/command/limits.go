package command

import (
	"fmt"
	"strings"
	"time"

	"hermes/internal/ratelimit"
	"hermes/internal/text"
)

// limits lists what the services said about their limits; empty if none did.
func limits(c *Call) string {
	if c.Limits == nil {
		return ""
	}
	list, now := c.Limits()
	var b strings.Builder
	for _, s := range list {
		name := s.Service
		if s.Key != "" {
			name += " (" + s.Key + ")"
		}
		fmt.Fprintf(&b, "\n| limits of %s | used | left | resets |\n|---|---:|---:|---|\n", cell(name))
		for _, w := range s.Windows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(w.Name), usedShare(w), left(w), resets(w.Reset, now))
		}
	}
	return b.String()
}

// cell makes a text from outside safe in a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", "/", "`", "'", "\n", " ", "\r", " ").Replace(s)
}

func usedShare(w ratelimit.Window) string {
	switch {
	case w.Used < 0:
		return ""
	case w.Used == 0:
		return "0 %"
	}
	return percent(w.Used, 1)
}

func left(w ratelimit.Window) string {
	switch {
	case w.Left < 0 && w.Limit < 0:
		return ""
	case w.Left < 0:
		return "of " + text.Tokens(w.Limit)
	case w.Limit < 0:
		return text.Tokens(w.Left)
	}
	return text.Tokens(w.Left) + " of " + text.Tokens(w.Limit)
}

// resets says when a window begins again: near times as a wait, far ones as a date.
func resets(at, now time.Time) string {
	if at.IsZero() {
		return ""
	}
	wait, at := at.Sub(now), at.In(now.Location())
	switch {
	case wait < time.Minute:
		return fmt.Sprintf("in %d s", max(1, int(wait.Round(time.Second).Seconds())))
	case wait < time.Hour:
		return fmt.Sprintf("in %d min", int(wait.Round(time.Minute).Minutes()))
	case wait < 24*time.Hour:
		wait = wait.Round(time.Minute)
		return fmt.Sprintf("at %s, in %d h %d min", at.Format("15:04"), int(wait.Hours()), int(wait.Minutes())%60)
	}
	return at.Format("on Mon 2 Jan, 15:04")
}
