package sessions

import (
	"fmt"
	"time"

	"hermes"
)

// ago formats how long ago a time was.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "never"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d d ago", int(d.Hours()/24))
	}
	return t.Local().Format(time.DateOnly)
}

// state returns the state of a session in a word.
func state(r hermes.Session) string {
	switch {
	case r.Messages == 0:
		return "empty"
	case r.Asking:
		return "asks you"
	case r.Ended.IsZero():
		return "open"
	case r.EndReason == "":
		return "ended"
	}
	return r.EndReason
}
