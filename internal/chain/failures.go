package chain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
)

// failure is the error of one model.
type failure struct {
	ref string
	err error
}

// brief describes a failure in a few plain words, with the time until it passes.
func brief(err error) string {
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok {
		return err.Error()
	}
	text := reason(e)
	if e.Status > 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", available again in %v", e.RetryAfter.Round(time.Second))
	}
	return text
}

// noneAnswered is the error if every model of the chain failed.
type noneAnswered struct{ failed []failure }

func exhausted(failed []failure) error {
	if len(failed) == 1 {
		return failed[0].err
	}
	return &noneAnswered{failed}
}

// Error lists the failures, one a line, and what to do.
func (e *noneAnswered) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "none of %d models answered:", len(e.failed))
	for _, f := range e.failed {
		fmt.Fprintf(&b, "\n- %s: %s", f.ref, brief(f.err))
	}
	b.WriteString("\nTry again later, choose another model with /model, or add one under fallback_providers in config.yaml.")
	return b.String()
}

// Unwrap returns the failures; the requested model's comes first.
func (e *noneAnswered) Unwrap() []error {
	errs := make([]error, len(e.failed))
	for i, f := range e.failed {
		errs[i] = f.err
	}
	return errs
}

// notice says why the last model failed and which one is used now. A model that
// could not be called is only named: the reason is shown if all fail.
func (t *try) notice(next string) string {
	var last failure
	unasked := ""
	for _, f := range t.failed {
		if _, asked := errors.AsType[*hermes.ModelError](f.err); asked {
			last, unasked = f, ""
			continue
		}
		unasked += fmt.Sprintf("; skipped %s", f.ref)
	}
	if last.err != nil {
		return fmt.Sprintf("%s: %s%s; using %s for this turn", last.ref, brief(last.err), unasked, next)
	}
	wait := t.m.Failover.rests(t.chain[0].Ref, t.m.Now())
	return fmt.Sprintf("%s is unavailable for another %v%s; using %s", t.chain[0].Ref, wait.Round(time.Second), unasked, next)
}
