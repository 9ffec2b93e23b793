package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
)

// failure is what became of one model.
type failure struct {
	ref string
	err error
}

// brief is a failure in a few plain words, with the time at which it passes.
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
		text += fmt.Sprintf(", which ends in %v", e.RetryAfter.Round(time.Second))
	}
	return text
}

// noneAnswered is the end of a chain: who failed with what.
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

// Unwrap gives the failures, that of the model which was asked for first.
func (e *noneAnswered) Unwrap() []error {
	errs := make([]error, len(e.failed))
	for i, f := range e.failed {
		errs[i] = f.err
	}
	return errs
}

// notice tells what became of the last model that was asked. One that could
// not be asked is only named: what it lacks is told if all fail.
func (t *try) notice(next string) string {
	var last failure
	unasked := ""
	for _, f := range t.failed {
		if _, asked := errors.AsType[*hermes.ModelError](f.err); asked {
			last, unasked = f, ""
			continue
		}
		unasked += fmt.Sprintf("; %s cannot be asked", f.ref)
	}
	if last.err != nil {
		return fmt.Sprintf("%s: %s%s; %s answers instead for this turn", last.ref, brief(last.err), unasked, next)
	}
	wait := t.m.c.failover.rests(t.chain[0].ref, t.m.c.cfg.Now())
	return fmt.Sprintf("%s rests for another %v%s; %s answers instead", t.chain[0].ref, wait.Round(time.Second), unasked, next)
}
