package codeexecution

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
	"hermes/internal/window"
)

const toolName = "execute_code"

// Bounds of what a script prints, in bytes.
const (
	maxOutput = 50_000
	maxErrors = 10_000
	maxSaved  = 10 << 20
)

type arguments struct {
	Code     string `json:"code"`
	Language string `json:"language,omitempty" enum:"python,javascript" default:"python" doc:"javascript: await calls"`
	Keep     bool   `json:"keep,omitempty" doc:"Keep variables for later calls"`
	Reset    bool   `json:"reset,omitempty" doc:"Forget them first"`
}

// The ways in which a script ends.
const (
	statusSuccess     = "success"
	statusError       = "error"
	statusTimeout     = "timeout"
	statusInterrupted = "interrupted"
)

// outcome is the result for the model.
type outcome struct {
	Status   string   `json:"status"`
	Output   string   `json:"output"`
	Error    string   `json:"error,omitempty"`
	Calls    int      `json:"tool_calls_made"`
	Duration float64  `json:"duration_seconds"`
	Saved    string   `json:"full_output,omitempty"`
	Note     string   `json:"note,omitempty"`
	Blocked  []string `json:"blocked,omitempty"` // by the sandbox
	Advice   string   `json:"blocked_advice,omitempty"`
}

// errTimeout is the cause with which a script is ended that ran out of time.
var errTimeout = errors.New("the script ran out of time")

// ending is how a script ended.
type ending struct {
	code    int
	refused []hermes.Refusal
	err     error // it did not end by itself, or did not run
	lost    bool  // with the kept variables
}

// script is one script that runs.
type script struct {
	*calls
	in     arguments
	stdout *output
	stderr *window.Window
	dir    string // in which a script of a kernel begins, "" if it does not matter
	note   string // for the model
}

// run is the tool execute_code.
func (t *Toolset) run(ctx context.Context, c *hermes.Call, in arguments) (hermes.Result, error) {
	if strings.TrimSpace(in.Code) == "" {
		return hermes.Result{}, errors.New("code is empty; give the script to run")
	}
	if in.Reset {
		t.kernels.end(c.Host.Session().ID)
	}
	began := t.config.Now()
	s := &script{calls: newCalls(c.Host, t.config.MaxCalls), in: in, stdout: newOutput(), stderr: window.New(maxErrors)}
	limited, stop := t.limit(ctx, s, began)
	defer stop()
	var end ending
	if in.Language == "javascript" {
		end = t.javascript(limited, s, c.Host.Session().ID)
	} else {
		end = t.python(limited, c, s)
	}
	s.calls.close()
	stop()
	return t.result(ctx, c, s, end, t.config.Now().Sub(began))
}

// tick is how often the time of a script is looked at, and the user sees how far it is.
const tick = 250 * time.Millisecond

// limit returns a context that ends with the time of a script. The time in which the user is
// asked about one of its calls does not count. It also shows the user how far the script is.
func (t *Toolset) limit(ctx context.Context, s *script, began time.Time) (context.Context, func()) {
	limited, cancel := context.WithCancelCause(ctx)
	waiter, _ := s.host.(hermes.Waiter)
	done := make(chan struct{})
	go func() { // ends with limited, which the caller cancels
		defer close(done)
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		last, used, shown := began, time.Duration(0), ""
		for {
			select {
			case <-limited.Done():
				return
			case <-ticker.C:
			}
			now := t.config.Now()
			if waiter == nil || !waiter.Waiting() {
				used += now.Sub(last)
			}
			last = now
			if used >= t.config.Timeout {
				cancel(errTimeout)
				return
			}
			if line := s.progress(now.Sub(began)); line != shown && now.Sub(began) >= time.Second {
				shown = line
				s.host.Progress(line)
			}
		}
	}()
	return limited, func() { cancel(nil); <-done }
}

// progress says how far a script is.
func (s *script) progress(age time.Duration) string {
	done, begun := s.counts()
	return fmt.Sprintf("%s: %d of %s, %d s", toolName, done, text.Plural(begun, "call", "calls"), int(age.Seconds()))
}

// result describes the end of a script to the model.
func (t *Toolset) result(ctx context.Context, c *hermes.Call, s *script, end ending, took time.Duration) (hermes.Result, error) {
	_, begun := s.counts()
	r := outcome{Status: statusSuccess, Output: s.stdout.text(), Calls: begun, Note: s.note, Duration: float64(took.Round(10*time.Millisecond)) / float64(time.Second)}
	r.Blocked, r.Advice = blocked(end.refused)
	if path, err := t.save(ctx, c, s.stdout); err != nil {
		r.Output = below(r.Output, "[the whole output could not be saved: "+err.Error()+"]")
	} else {
		r.Saved = path
	}
	switch {
	case errors.Is(end.err, errTimeout):
		r.Status, r.Error = statusTimeout, fmt.Sprintf("Script timed out after %ds and was killed.", int(t.config.Timeout.Seconds()))
	case end.err != nil && ctx.Err() != nil:
		r.Status = statusInterrupted
		r.Output = below(r.Output, "[execution interrupted — user sent a new message]")
	case end.err != nil && begun == 0 && r.Output == "":
		return hermes.Result{}, fmt.Errorf("the script did not run: %w", end.err)
	case end.err != nil:
		r.Status, r.Error = statusError, end.err.Error()
	case end.code != 0:
		r.Status, r.Error = statusError, fmt.Sprintf("the script ended with exit status %d", end.code)
	}
	if end.err != nil || end.code != 0 {
		if errs := s.stderr.Text(leftOut); errs != "" {
			r.Output = below(r.Output, "[stderr]\n"+errs)
		}
		if end.lost {
			r.Error = strings.TrimLeft(strings.TrimSuffix(r.Error, ".")+". ", ". ") + "The kept variables are lost."
		}
	}
	result, err := hermes.JSONResult(r)
	result.Failed, result.RefundStep = r.Status != statusSuccess, true
	return result, err
}

// below puts a text on a line of its own below an output.
func below(output, text string) string {
	if output == "" || strings.HasSuffix(output, "\n") {
		return output + text
	}
	return output + "\n" + text
}

// save stores the output if the model does not get all of it.
func (t *Toolset) save(ctx context.Context, c *hermes.Call, o *output) (string, error) {
	whole, cut := o.whole()
	if !cut || t.config.Save == nil {
		return "", nil
	}
	return t.config.Save(context.WithoutCancel(ctx), c, t.config.Mask(whole))
}

// leftOut says what is missing in the middle of an output.
func leftOut(int64, int64) string { return fmt.Sprintf("[output truncated at %dKB]", maxOutput/1000) }

// blocked lists what the walls refused, and says what to do about it.
func blocked(refused []hermes.Refusal) (list []string, advice string) {
	for _, r := range refused {
		list = append(list, r.String())
	}
	if len(list) > 0 {
		advice = "The sandbox blocked these. If the script needs them, do that step with the tool terminal and its argument need."
	}
	return list, advice
}
