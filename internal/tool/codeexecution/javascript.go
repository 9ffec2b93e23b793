package codeexecution

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"modernc.org/quickjs"

	"hermes/internal/lazy"
)

//go:embed prelude.js
var prelude string

// maxMemory is what the variables of a JavaScript may take, in bytes.
const maxMemory = 128 << 20

// evalAsync lets a script await at its top level; it is JS_EVAL_FLAG_ASYNC of QuickJS.
const evalAsync = 1 << 7

// interruptEvery is how often an engine is told to stop until it has.
const interruptEvery = 20 * time.Millisecond

// javascript runs a JavaScript until it ends, in an engine of this process that has nothing
// but the tools.
func (t *Toolset) javascript(ctx context.Context, s *script, session string) ending {
	if s.in.Keep {
		return t.kernels.run(ctx, kernelKey{session, "javascript"}, s, func(context.Context) (kernel, error) { return newEngine() })
	}
	e, err := newEngine()
	if err != nil {
		return ending{err: err}
	}
	defer e.stop()
	end, _ := e.runs(ctx, s)
	return end
}

// engine runs scripts one after another. Only one goroutine may use it at a time.
type engine struct {
	vm      *quickjs.VM
	ended   chan struct{}
	now     *script
	ctx     context.Context // of now
	open    int             // calls and timers of now that have not ended
	answers chan reply
}

// reply ends a call or a timer.
type reply struct {
	id   int
	text string
}

func newEngine() (*engine, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("start JavaScript: %w", err)
	}
	e := &engine{vm: vm, ended: make(chan struct{}), answers: make(chan reply)}
	vm.SetMemoryLimit(maxMemory)
	err = errors.Join(
		vm.RegisterHostFunc("__hermes_print", e.print),
		vm.RegisterHostFunc("__hermes_call", e.call),
		vm.RegisterHostFunc("__hermes_wait", e.wait),
	)
	if err == nil {
		_, err = vm.Eval(prelude, quickjs.EvalGlobal)
	}
	if err != nil {
		vm.Close()
		return nil, fmt.Errorf("prepare JavaScript: %w", err)
	}
	return e, nil
}

func (e *engine) print(args []any) (any, error) {
	if len(args) != 2 {
		return nil, errors.New("print takes a stream and a text")
	}
	var to io.Writer = e.now.stdout
	if n, _ := args[0].(int); n == 2 {
		to = e.now.stderr
	}
	text, _ := args[1].(string)
	_, err := io.WriteString(to, text)
	return nil, err
}

// call begins a call of a tool; its answer comes later.
func (e *engine) call(args []any) (any, error) {
	if len(args) != 3 {
		return nil, errors.New("a call has an id, a tool and its arguments")
	}
	id, _ := args[0].(int)
	tool, _ := args[1].(string)
	given, _ := args[2].(string)
	s, ctx := e.now, e.ctx
	e.later(func() reply { return reply{id, string(s.calls.call(ctx, tool, json.RawMessage(given)))} })
	return nil, nil
}

// wait begins a timer.
func (e *engine) wait(args []any) (any, error) {
	if len(args) != 2 {
		return nil, errors.New("a timer has an id and milliseconds")
	}
	id, _ := args[0].(int)
	var ms float64
	switch n := args[1].(type) {
	case int:
		ms = float64(n)
	case float64:
		ms = n
	}
	ctx := e.ctx
	e.later(func() reply {
		timer := time.NewTimer(time.Duration(min(max(ms, 0), 1e9)) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return reply{id, "null"}
	})
	return nil, nil
}

// later passes the result of work to the engine. runs waits for all of it.
func (e *engine) later(work func() reply) {
	e.open++
	go func() { e.answers <- work() }()
}

// runs runs a script until it has ended and all of its calls have. It reports false if the
// engine can run no more.
func (e *engine) runs(ctx context.Context, s *script) (end ending, alive bool) {
	e.now, e.ctx, e.open = s, ctx, 0
	stopped := e.interruptWith(ctx)
	defer stopped()
	defer func() {
		for ; e.open > 0; e.open-- { // calls end soon after ctx, which limits them
			<-e.answers
		}
	}()
	err := e.loop(ctx, s)
	switch {
	case ctx.Err() != nil:
		return ending{err: context.Cause(ctx)}, false
	case err != nil:
		fmt.Fprintln(s.stderr, explain(err))
		return ending{code: 1}, !strings.Contains(err.Error(), "out of memory")
	}
	return ending{}, true
}

// interruptWith stops the engine when ctx ends, until the returned func is called.
func (e *engine) interruptWith(ctx context.Context) (stop func()) {
	done, gone := make(chan struct{}), make(chan struct{})
	go func() { // ends with done
		defer close(gone)
		select {
		case <-ctx.Done():
		case <-done:
			return
		}
		ticker := time.NewTicker(interruptEvery) // one that comes between two calls has no effect
		defer ticker.Stop()
		for {
			e.vm.Interrupt()
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-gone }
}

func (e *engine) loop(ctx context.Context, s *script) error {
	list := map[string][]string{}
	for _, spec := range scriptTools(s.host) {
		list[spec.Name] = []string{}
		for _, p := range parameters(spec) {
			list[spec.Name] = append(list[spec.Name], p.Name)
		}
	}
	names, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if _, err := e.vm.Call("__hermes_tools", string(names)); err != nil {
		return err
	}
	promise, err := e.vm.EvalValue(withoutImports(s.in.Code), quickjs.EvalGlobal|evalAsync)
	if err != nil {
		return err
	}
	defer promise.Free()
	var settled bool
	var failed error
	then, err := promise.Then(
		func(quickjs.Value) { settled = true },
		func(v quickjs.Value) { settled, failed = true, quickjs.ErrorFromValue(v) })
	if err != nil {
		return err
	}
	defer then.Free()
	for {
		if _, err := e.vm.ExecutePendingJobs(); err != nil {
			return err
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case failed != nil:
			return failed
		case e.open == 0 && settled:
			return nil
		case e.open == 0:
			return errors.New("the script waits for a promise that nothing settles")
		}
		a := <-e.answers // comes at the latest when ctx ends
		e.open--
		if _, err := e.vm.Call("__hermes_answer", a.id, a.text); err != nil {
			return err
		}
	}
}

func (e *engine) stop() {
	select {
	case <-e.ended:
	default:
		close(e.ended)
		e.vm.Close()
	}
}

func (e *engine) over() <-chan struct{} { return e.ended }

var importTools = lazy.Regexp(`(?m)^([ \t]*)import\s*(\{[^}]*\}|\*\s*as\s+[\w$]+)\s*from\s*["'](?:\./)?hermes_tools(?:\.js)?["'][ \t]*;?`)

// withoutImports turns imports of hermes_tools into declarations, since a script is no module:
// its variables can be kept.
func withoutImports(code string) string {
	if !strings.Contains(code, "hermes_tools") {
		return code
	}
	return importTools().ReplaceAllStringFunc(code, func(found string) string {
		m := importTools().FindStringSubmatch(found)
		what := m[2]
		if name, ok := strings.CutPrefix(what, "*"); ok {
			return m[1] + "var " + strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(name), "as")) + " = hermes_tools;"
		}
		return m[1] + "var " + strings.ReplaceAll(what, " as ", ": ") + " = hermes_tools;"
	})
}

// explain is the text of an error with its place in the script.
func explain(err error) string {
	var e *quickjs.Error
	if !errors.As(err, &e) || e.Stack == "" {
		return err.Error()
	}
	return strings.TrimRight(e.Error()+"\n"+e.Stack, "\n")
}
