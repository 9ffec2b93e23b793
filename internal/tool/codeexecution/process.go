package codeexecution

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"hermes"
)

var (
	errTooLong = fmt.Errorf("the script sent a message of more than %d MB", maxMessage>>20)
	errBroken  = errors.New("the script sent something that is no message")
)

// killGrace is the time between the signal to end and the forced end of a script.
const killGrace = 5 * time.Second

// maxBusy is how many messages of a script are worked on at once.
const maxBusy = 64

// process is a Python that runs scripts: one, or as a kernel one after another. Only one runs
// at a time.
type process struct {
	token string
	found func(python) // is told which interpreter runs
	end   context.CancelCauseFunc
	done  chan struct{} // closed when it has ended
	exit  ending        // set before done is closed

	sendMu  sync.Mutex
	channel io.ReadWriteCloser

	mu    sync.Mutex
	now   *running // the script that runs; nil between scripts
	dir   string   // in which the last script began
	count int      // of scripts
	ready bool     // it has said that it runs Python
}

// running is a script in a process.
type running struct {
	*script
	ctx     context.Context
	number  int
	end     sync.Once
	code    int           // set before ended is closed
	ended   chan struct{} // closed when the script of a kernel has ended
	printed chan struct{} // has a value for each output of which the script of a kernel printed all
}

// outputs is how many outputs a script has.
const outputs = 2

// toScript is a message to the process: a script to run, or the answer to a call.
type toScript struct {
	Run    int    `json:"run,omitempty"`
	Code   string `json:"code,omitempty"`
	Module string `json:"module,omitempty"` // the source of hermes_tools
	Token  string `json:"token,omitempty"`
	Keep   bool   `json:"keep,omitempty"`
	Dir    string `json:"dir,omitempty"` // to which the session has changed since the last script

	Answer int             `json:"answer,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
}

// fromScript is a message of the process: its interpreter, a call, or the end of a script.
type fromScript struct {
	Ready string `json:"ready"`
	Key   string `json:"key"`

	Call int             `json:"call"`
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`

	Ended int `json:"ended"`
	Code  int `json:"code"`
}

// start starts a Python for a call. It lives until ctx ends or it ends by itself.
func (t *Toolset) start(ctx context.Context, call *hermes.Call) (*process, error) {
	env := call.Host.Environment()
	known := t.pythons.of(call.Host.Session().ID)
	p := &process{token: rand.Text(), found: known.add, done: make(chan struct{})}
	c := hermes.Command{Line: line(known, t.config.Strict, t.config.Passthrough), Grace: killGrace}
	if call.Approved != nil {
		c.Ready = func() error { return unchanged(call) }
	}
	stdout := newSplitter(p.token, printer{p, func(s *script) io.Writer { return s.stdout }}, p.mark)
	stderr := newSplitter(p.token, printer{p, func(s *script) io.Writer { return s.stderr }}, p.mark)
	c.Stdout, c.Stderr = stdout, stderr
	var theirs *os.File
	if g, ok := env.(hermes.ChannelGiver); ok && g.GivesChannel() {
		ours, other, err := socketPair()
		if err != nil {
			return nil, err
		}
		p.channel, c.Channel, theirs = ours, other, other
	} else {
		s := newStreams()
		p.channel, c.Stdin = s, s.input
		c.Env = []string{hermes.ChannelVariable + "="} // the session may have exported one
		stdout.mark, stderr.mark = s.or(p.mark), s.or(p.mark)
	}
	ctx, p.end = context.WithCancelCause(ctx)
	served := make(chan error, 1)
	go func() { served <- p.serve() }() // ends with the channel, which the next one closes
	go func() {
		defer close(p.done)
		exit, err := env.Exec(ctx, c)
		if theirs != nil {
			theirs.Close()
		}
		stdout.flush()
		stderr.flush()
		p.channel.Close()
		if broken := <-served; err == nil && broken != nil && exit.Code != 0 {
			err = broken
		}
		p.exit = ending{code: exit.Code, refused: exit.Refused, err: err}
		p.end(nil)
	}()
	return p, nil
}

// begin sends a script to the process. What it prints and calls belongs to s from now on.
func (p *process) begin(ctx context.Context, s *script, keep bool) *running {
	p.mu.Lock()
	p.count++
	r := &running{script: s, ctx: ctx, number: p.count, ended: make(chan struct{}), printed: make(chan struct{}, outputs)}
	p.now = r
	m := toScript{Run: r.number, Code: s.in.Code, Module: pythonModule(s.host), Keep: keep}
	if r.number > 1 && s.dir != p.dir {
		m.Dir = s.dir
	}
	p.dir = s.dir
	p.mu.Unlock()
	if r.number == 1 {
		m.Token = p.token
	}
	go func() { // a process that does not read is ended with its time
		if err := p.write(m); err != nil {
			p.end(fmt.Errorf("send the script: %w", err))
		}
	}()
	return r
}

// finish takes the process from its script.
func (p *process) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = nil
}

func (p *process) current() *running {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

// python reports whether a Python has run.
func (p *process) python() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ready
}

func (p *process) write(m toScript) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	_, err = p.channel.Write(append(b, '\n'))
	return err
}

// serve works on the messages of the process until the channel ends.
func (p *process) serve() error {
	in := bufio.NewReaderSize(p.channel, 64<<10)
	free := make(chan struct{}, maxBusy)
	var busy sync.WaitGroup
	defer busy.Wait()
	defer p.channel.Close() // what is written to it waits for no reader
	for {
		text, err := readLine(in)
		if errors.Is(err, errTooLong) {
			p.end(err)
			return err
		} else if err != nil {
			return nil // it has ended
		}
		var m fromScript
		if json.Unmarshal(text, &m) != nil {
			p.end(errBroken)
			return errBroken
		}
		r := p.current()
		switch {
		case m.Ready != "":
			p.mu.Lock()
			first := !p.ready // only this one comes before the script runs
			p.ready = true
			p.mu.Unlock()
			if first {
				p.found(python{m.Key, m.Ready})
			}
		case m.Ended != 0 && r != nil && m.Ended == r.number:
			r.end.Do(func() { r.code = m.Code; close(r.ended) })
		case m.Call != 0:
			free <- struct{}{}
			busy.Go(func() {
				defer func() { <-free }()
				p.answer(r, m)
			})
		}
	}
}

// answer runs a call of the script and sends its result.
func (p *process) answer(r *running, m fromScript) {
	var result json.RawMessage
	if r == nil {
		result = problem("no script runs now, so that no tool can")
	} else {
		result = r.call(r.ctx, m.Tool, m.Args)
		if r.ctx.Err() != nil && p.current() == r {
			return // it is being ended, and must not go on meanwhile
		}
	}
	_ = p.write(toScript{Answer: m.Call, Result: result}) // fails only if the process has ended
}

// readLine reads a line of at most maxMessage bytes.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		piece, err := in.ReadSlice('\n')
		text = append(text, piece...)
		switch {
		case len(text) > maxMessage:
			return nil, errTooLong
		case err == nil:
			return text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// mark takes the mark in an output that ends what a script of a kernel has printed.
func (p *process) mark(kind byte, text []byte) {
	r := p.current()
	if n, err := strconv.Atoi(string(text)); kind == markEnd && err == nil && r != nil && n == r.number {
		select {
		case r.printed <- struct{}{}:
		default: // it marks more ends than there are
		}
	}
}

// printer writes to the output of the script that runs.
type printer struct {
	*process
	of func(*script) io.Writer
}

func (o printer) Write(p []byte) (int, error) {
	if r := o.current(); r != nil {
		return o.of(r.script).Write(p)
	}
	return len(p), nil
}
