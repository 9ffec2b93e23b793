package terminal

import (
	"context"
	"errors"
	"fmt"
	"hermes/internal/window"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// Limits of what the tool process shows.
const (
	pollBytes = 4000
	logLines  = 200
)

type processArguments struct {
	Action  string `json:"action" enum:"list,poll,log,wait,kill,write,submit,close"`
	ID      string `json:"session_id,omitempty" doc:"From terminal"`
	Data    string `json:"data,omitempty"`
	Timeout int    `json:"timeout,omitempty" min:"1" doc:"wait: seconds"`
	Offset  int    `json:"offset,omitempty" min:"0" doc:"log: first line"`
	Limit   int    `json:"limit,omitempty" min:"1" doc:"log: lines" default:"200"`
}

// report is the state of a background process for the model.
type report struct {
	ID      string   `json:"session_id,omitempty"`
	Blocked []string `json:"blocked,omitempty"` // as in outcome
	Advice  string   `json:"blocked_advice,omitempty"`

	Command  string  `json:"command,omitempty"`
	Status   string  `json:"status"`
	PID      int     `json:"pid,omitempty"`
	Uptime   int     `json:"uptime_seconds,omitempty"`
	ExitCode *int    `json:"exit_code,omitempty"`
	Output   *string `json:"output,omitempty"`
	Lines    string  `json:"lines,omitempty"`
	Note     string  `json:"note,omitempty"`
	Error    string  `json:"error,omitempty"`
}

// process is the tool process.
func (t *shellOf) process(ctx context.Context, _ *hermes.Call, in processArguments) (hermes.Result, error) {
	if in.Action == "list" {
		return t.list()
	}
	if in.ID == "" {
		return hermes.Result{}, errors.New("session_id is missing; use action list to see the processes")
	}
	j := t.find(in.ID)
	if j == nil {
		return failed(report{ID: in.ID, Status: "not_found", Error: "no such process; it may have ended long ago or with an earlier run of Hermes. Use action list to see the current ones"})
	}
	switch in.Action {
	case "poll":
		return t.poll(j)
	case "log":
		return t.log(j, in)
	case "wait":
		return t.wait(ctx, j, in)
	case "kill":
		return t.kill(j)
	case "write":
		return t.input(j, in.Data)
	case "submit":
		return t.input(j, in.Data+"\n")
	case "close":
		return t.closeInput(j)
	}
	return hermes.Result{}, fmt.Errorf("action %q is unknown; use list, poll, log, wait, kill, write, submit or close", in.Action)
}

func (t *shellOf) list() (hermes.Result, error) {
	jobs := t.all()
	all := make([]report, 0, len(jobs))
	for _, j := range jobs {
		r := t.report(j)
		r.Command = text.Line(r.Command, 200)
		all = append(all, r)
	}
	return hermes.JSONResult(map[string]any{"processes": all})
}

// report returns the state of a process. If it has ended, the model needs no
// notice any more.
func (t *shellOf) report(j *job) report {
	r := report{ID: j.id, Command: j.command, PID: j.process.PID(), Status: "running"}
	end := t.config.Now()
	if j.over() {
		j.markReported()
		r.Status, r.ExitCode, end = "exited", &j.exit.Code, j.ended
		r.Blocked, r.Advice = blocked(j.exit.Refused)
		if j.err != nil {
			r.Status, r.Error = "lost", j.err.Error()
		}
	}
	r.Uptime = int(end.Sub(j.started).Seconds())
	return r
}

func (t *shellOf) poll(j *job) (hermes.Result, error) {
	r := t.report(j)
	r.Command = ""
	j.addNew(&r)
	return hermes.JSONResult(r)
}

// addNew adds the output that poll and wait have not shown yet.
func (j *job) addNew(r *report) {
	j.mu.Lock()
	defer j.mu.Unlock()
	text, now, lost := j.out.since(j.read, pollBytes)
	j.read, r.Output = now, &text
	if lost > 0 {
		r.Note = fmt.Sprintf("%d earlier bytes are not shown; use action log to see them", lost)
	}
}

func (t *shellOf) log(j *job, in processArguments) (hermes.Result, error) {
	lines, cut := j.out.lines()
	limit := in.Limit
	if limit <= 0 {
		limit = logLines
	}
	from := in.Offset
	if from <= 0 {
		from = max(1, len(lines)-limit+1)
	}
	from = min(from, len(lines)+1)
	to := min(from+limit-1, len(lines))
	r := t.report(j)
	r.Command = ""
	text := cutMiddle(strings.Join(lines[from-1:to], "\n"), t.config.MaxOutput)
	r.Output = &text
	r.Lines = fmt.Sprintf("%d-%d of %d", from, to, len(lines))
	if cut {
		r.Note = "the beginning of the output was dropped; line 1 is the first line kept"
	}
	return hermes.JSONResult(r)
}

func cutMiddle(text string, most int) string {
	w := window.New(most)
	_, _ = w.Write([]byte(text))
	return w.Text(leftOut)
}

// wait returns when the process ends or the time is up.
func (t *shellOf) wait(ctx context.Context, j *job, in processArguments) (hermes.Result, error) {
	timeout := t.config.Timeout
	var note string
	if in.Timeout > 0 {
		timeout = time.Duration(in.Timeout) * time.Second
	}
	if timeout > longestWait {
		timeout = longestWait
		note = fmt.Sprintf("waited at most %d seconds", int(longestWait.Seconds()))
	}
	status := ""
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	j.markReported() // a model that waits needs no notice
	select {
	case <-j.done:
	case <-timer.C:
		status = "timeout"
		j.unmarkReported()
	case <-ctx.Done():
		status = "interrupted"
		j.unmarkReported()
	}
	r := t.report(j)
	r.Command = ""
	if status != "" && !j.over() {
		r.Status, r.Note = status, note
	}
	j.addNew(&r)
	result, err := hermes.JSONResult(r)
	result.Failed = r.ExitCode != nil && *r.ExitCode != 0
	return result, err
}

// unmarkReported undoes markReported: the process still runs.
func (j *job) unmarkReported() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reported = false
}

func (t *shellOf) kill(j *job) (hermes.Result, error) {
	if j.over() {
		r := t.report(j)
		r.Status = "already_exited"
		return hermes.JSONResult(r)
	}
	if err := j.kill(); err != nil {
		return hermes.Result{}, fmt.Errorf("the process could not be killed: %w", err)
	}
	r := t.report(j)
	r.Status = "killed"
	return hermes.JSONResult(r)
}

func (t *shellOf) input(j *job, data string) (hermes.Result, error) {
	if data == "" {
		return hermes.Result{}, errors.New("data is empty; give the text to send")
	}
	if j.over() {
		return failed(report{ID: j.id, Status: "already_exited", ExitCode: &j.exit.Code, Error: "the process has ended and cannot read input"})
	}
	if err := j.process.Input([]byte(data)); err != nil {
		return hermes.Result{}, fmt.Errorf("no input was sent: %w", err)
	}
	j.keep(data)
	return hermes.JSONResult(map[string]any{"session_id": j.id, "status": "ok", "bytes_written": len(data)})
}

// maxSent bounds the input of a process that is remembered.
const maxSent = 16 << 10

// keep remembers input, so that what comes after it is judged together with it.
func (j *job) keep(data string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sent += j.lines(data)
	j.sent = j.sent[max(0, len(j.sent)-maxSent):]
}

// typed returns the input so far, and the line of it that is not finished.
func (j *job) typed() (sent, line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	end := len(j.sent)
	for {
		i := strings.LastIndexByte(j.sent[:end], '\n')
		if i <= 0 || j.sent[i-1] != '\\' {
			return j.sent, j.sent[i+1:]
		}
		end = i // the line goes on
	}
}

func (t *shellOf) closeInput(j *job) (hermes.Result, error) {
	if j.over() {
		return failed(report{ID: j.id, Status: "already_exited", ExitCode: &j.exit.Code})
	}
	if err := j.process.CloseInput(); err != nil {
		return hermes.Result{}, fmt.Errorf("its input could not be closed: %w", err)
	}
	return hermes.JSONResult(report{ID: j.id, Status: "ok"})
}

func failed(r report) (hermes.Result, error) {
	result, err := hermes.JSONResult(r)
	result.Failed = true
	return result, err
}
