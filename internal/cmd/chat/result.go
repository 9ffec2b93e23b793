package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/ioerr"
	"hermes/internal/protocol"
)

// Output says in which form a single answer is printed.
type Output struct {
	JSON   bool   // one result object
	Stream bool   // every event in a line of its own, then the result
	Schema string // the file of the JSON Schema that the answer must fit
}

func (o *Output) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.JSON, "json", false, "answer once and print one JSON object with the answer and what it took")
	f.BoolVar(&o.Stream, "json-stream", false, "answer once and print each event as a line of JSON, the object of --json last")
	f.StringVar(&o.Schema, "schema", "", "answer once with JSON that fits the JSON Schema in this file")
	_ = cobra.MarkFlagFilename(f, "schema", "json") // for completions; the flag exists
}

// formed reports whether the answer is printed in a form of its own.
func (o *Output) formed() bool { return o.JSON || o.Stream || o.Schema != "" }

// readOutput checks the flags of the output and reads the schema.
func (o *Options) readOutput() (err error) {
	if o.Output.JSON && o.Output.Stream {
		return usage("use --json or --json-stream, not both: the last line of the stream is the object of --json")
	}
	if o.Output.Schema != "" {
		o.schema, err = readSchema(o.Output.Schema)
	}
	return err
}

// result is the object of --json. docs/ci.md describes it; a field is never renamed or removed
// without a new protocol version.
type result struct {
	Type    string         `json:"type"` // result
	Version int            `json:"version"`
	Outcome hermes.Outcome `json:"outcome"`
	Status  int            `json:"status"` // the exit status of the program
	Text    string         `json:"text"`
	// Structured is the answer as JSON. It is there only with --schema, and if it fits.
	Structured  json.RawMessage `json:"structured,omitempty"`
	Session     string          `json:"session"` // empty if nothing was stored
	Model       string          `json:"model"`   // provider:name
	Steps       int             `json:"steps"`   // model calls
	Usage       tokens          `json:"usage"`
	Cost        *float64        `json:"cost_usd"` // null if unknown
	ServiceTier *string         `json:"service_tier"`
	Duration    int64           `json:"duration_ms"`
	objections
	Failure *hermes.Failure `json:"failure"`
}

// objections are what did not run, and what was said without being done.
type objections struct {
	Denied      []refusal            `json:"denied"`
	Unconfirmed []hermes.Unconfirmed `json:"unconfirmed,omitempty"`
}

// tokens is what a run used, by the names of --usage-file.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	Reasoning  int64 `json:"reasoning_tokens"`
	Total      int64 `json:"total_tokens"`
	Calls      int64 `json:"api_calls"`
}

func tokensOf(u hermes.Usage) tokens {
	return tokens{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Total(), u.Calls}
}

// printResult prints the result in the form that was asked for and returns the error of the
// command. A wrong command line has no result.
func (o *Options) printResult(a answer, took time.Duration, err error) error {
	if _, wrong := errors.AsType[wrongUse](err); wrong {
		return err
	}
	out := &lines{w: o.Out}
	switch {
	case o.Output.JSON || o.Output.Stream:
		out.print(resultOf(a, took, err))
	case a.value != nil:
		_, out.err = fmt.Fprintf(o.Out, "%s\n", a.value)
	}
	return errors.Join(err, out.err)
}

func resultOf(a answer, took time.Duration, err error) result {
	r := result{
		Type: "result", Version: protocol.Version, Outcome: a.done.Outcome, Status: statusOf(err), Text: a.done.Text, Structured: a.value,
		Session: a.session, Model: a.model, Steps: a.done.Steps, Usage: tokensOf(a.done.Usage), Cost: a.cost, Duration: took.Milliseconds(), objections: objections{a.refused, a.done.Unconfirmed},
	}
	if a.tier != "" {
		r.ServiceTier = &a.tier
	}
	if r.Denied == nil {
		r.Denied = []refusal{}
	}
	switch {
	case r.Status == statusInterrupted:
		r.Outcome = hermes.OutcomeInterrupted
	case cause(err) != nil:
		r.Outcome, r.Failure = hermes.OutcomeFailed, failureOf(cause(err))
	}
	return r
}

// cause is the error that ended a run, or nil if it ended by itself.
func cause(err error) error {
	if ended, ok := errors.AsType[*app.ExitError](err); ok {
		return ended.Err
	}
	return err
}

// failureOf describes an error.
func failureOf(err error) *hermes.Failure {
	f := *hermes.FailureOf(err)
	if f.Hint == "" {
		f.Text = strings.TrimSuffix(strings.TrimSpace(ioerr.Text(err)), ": "+hermes.ErrNotFound.Error())
	}
	switch {
	case errors.Is(err, hermes.ErrHalted):
		f.Class = "halted"
	case errors.Is(err, hermes.ErrNoModel):
		f.Class = "no_model"
	case errors.Is(err, hermes.ErrNotFound):
		f.Class = "not_found"
	case errors.Is(err, hermes.ErrLeased):
		f.Class = "leased"
	case errors.Is(err, errUnfit):
		f.Class = "schema"
	}
	return &f
}

// statusOf is the exit status that an error gives the program.
func statusOf(err error) int {
	ended, ok := errors.AsType[*app.ExitError](err)
	switch {
	case err == nil:
		return 0
	case ok:
		return ended.Status
	case errors.Is(err, context.Canceled), errors.Is(err, hermes.ErrInterrupted):
		return statusInterrupted
	case errors.Is(err, hermes.ErrHalted):
		return statusHalted
	case errors.Is(err, hermes.ErrNoModel):
		return statusNoModel
	}
	return statusFailed
}
