package codeexecution

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libquickjs"
	"modernc.org/quickjs"

	"hermes"
	"hermes/internal/lazy"
)

//go:embed prelude.js
var prelude string

// maxMemory is what the variables of a JavaScript may take, in bytes.
const maxMemory = 128 << 20

// spareMemory is what an engine may take beyond that to say what went wrong.
const spareMemory = 8 << 20

// evalAsync lets a script await at its top level; it is JS_EVAL_FLAG_ASYNC of QuickJS.
const evalAsync = 1 << 7

// interruptEvery is how often an engine is told to stop until it has.
const interruptEvery = 20 * time.Millisecond

// javascript runs a JavaScript until it ends, in an engine of this process that has nothing
// but the tools.
func (t *Toolset) javascript(ctx context.Context, s *script, session string) ending {
	if s.in.Keep {
		return t.kernels.run(ctx, kernelKey{session, "javascript"}, "", s, func(context.Context) (kernel, error) { return newEngine() })
	}
	e, err := newEngine()
	if err != nil {
		return ending{err: err}
	}
	defer e.stop()
	end, _ := e.runs(ctx, s)
	return end
}

// maxOpen is how many calls and timers of a script may be open at once: each takes memory of
// this process, beside that of the engine.
const maxOpen = 1000

// engine runs scripts one after another.
type engine struct {
	life  context.Context // ends with stop
	end   context.CancelCauseFunc
	ended chan struct{} // closed when it has ended
	lost  *int64        // failed promises without a handler, since unhandled was asked

	mu      sync.Mutex // held while a script runs, and to end
	vm      *quickjs.VM
	now     *script
	ctx     context.Context            // of now
	open    int                        // calls and timers of now that have not ended
	timers  map[int]context.CancelFunc // of now, by their ids
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
	e := &engine{vm: vm, ended: make(chan struct{}), lost: new(int64), answers: make(chan reply)}
	e.life, e.end = context.WithCancelCause(context.Background())
	err = errors.Join(
		vm.RegisterHostFunc("__hermes_print", e.print),
		vm.RegisterHostFunc("__hermes_call", e.call),
		vm.RegisterHostFunc("__hermes_wait", e.wait),
		vm.RegisterHostFunc("__hermes_clear", e.clear),
		trackRejections(vm, e.lost),
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
	return nil, e.later(func() reply { return reply{id, string(s.calls.call(ctx, tool, json.RawMessage(given)))} })
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
	ctx, cancel := context.WithCancel(e.ctx)
	e.timers[id] = cancel
	return nil, e.later(func() reply {
		timer := time.NewTimer(time.Duration(min(max(ms, 0), 1e9)) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return reply{id, "null"}
	})
}

// clear ends a timer before its time.
func (e *engine) clear(args []any) (any, error) {
	if id, ok := args[0].(int); ok && e.timers[id] != nil {
		e.timers[id]()
	}
	return nil, nil
}

// later passes the result of work to the engine. runs waits for all of it.
func (e *engine) later(work func() reply) error {
	if e.open >= maxOpen {
		return fmt.Errorf("more than %d calls and timers at once: await some before the next", maxOpen)
	}
	e.open++
	go func() { e.answers <- work() }()
	return nil
}

// runs runs a script until it has ended and all of its calls have. An error ends its open calls. It
// reports false if the engine can run no more.
func (e *engine) runs(ctx context.Context, s *script) (end ending, alive bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer context.AfterFunc(e.life, func() { cancel(errStopped) })()
	e.now, e.ctx, e.open, e.timers = s, ctx, 0, map[int]context.CancelFunc{}
	stopped := e.interruptWith(ctx)
	defer func() {
		stopped()
		cancel(nil)                  // what is open is of a script that failed: nothing waits for it
		for ; e.open > 0; e.open-- { // calls end soon after ctx, and timers at once
			<-e.answers
		}
	}()
	if e.life.Err() != nil {
		return ending{err: errStopped}, false
	}
	e.vm.SetMemoryLimit(maxMemory)
	err := e.loop(ctx, s)
	switch {
	case ctx.Err() != nil:
		return ending{err: context.Cause(ctx)}, false
	case err != nil:
		fmt.Fprintln(s.stderr, explain(err))
		return ending{code: 1}, !exhausted(err)
	}
	return ending{}, true
}

// offer makes the tools of a session functions.
func (e *engine) offer(h hermes.Host) error {
	list := map[string][]string{}
	for _, spec := range scriptTools(h) {
		list[spec.Name] = []string{}
		for _, p := range parameters(spec) {
			list[spec.Name] = append(list[spec.Name], p.Name)
		}
	}
	names, err := json.Marshal(list)
	if err != nil {
		return err
	}
	_, err = e.vm.Call("__hermes_tools", string(names))
	return err
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
	if err := e.offer(s.host); err != nil {
		return err
	}
	*e.lost = 0
	promise, err := e.vm.EvalValue(withoutImports(s.in.Code), quickjs.EvalGlobal|evalAsync)
	if err != nil {
		return err
	}
	defer promise.Free()
	var own, settled bool // whether the script is settled, and also the promise that is its last value
	var failed error
	if err := e.whenSettled(promise, func(err error) { own, failed = true, err }); err != nil {
		return err
	}
	for {
		if _, err := e.vm.ExecutePendingJobs(); err != nil {
			return err
		}
		if own && failed == nil {
			own = false
			last, err := e.vm.CallValue("__hermes_last", promise)
			if err != nil {
				return err
			}
			defer last.Free()
			if err := e.whenSettled(last, func(err error) { settled, failed = true, err }); err != nil {
				return err
			}
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if failed != nil {
			return failed
		}
		if err := e.unhandled(); err != nil {
			return err
		}
		switch {
		case e.open == 0 && settled:
			return nil
		case e.open == 0:
			return errors.New("the script waits for a promise that nothing settles")
		}
		a := <-e.answers // comes at the latest when ctx ends
		e.open--
		if cancel := e.timers[a.id]; cancel != nil {
			cancel()
			delete(e.timers, a.id)
		}
		if _, err := e.vm.Call("__hermes_answer", a.id, a.text); err != nil {
			return err
		}
	}
}

// unhandled returns the error of a promise that failed and that nothing handles. It is asked when
// no job is left, since a job may handle a promise that failed before.
func (e *engine) unhandled() error {
	why, err := e.vm.Call("__hermes_unhandled")
	text, _ := why.(string)
	if *e.lost > 0 && text == "" {
		text = fmt.Sprintf("Uncaught (in promise): %d of more than %d promises that failed have no handler", *e.lost, maxRejections)
	}
	if *e.lost = 0; err == nil && text != "" {
		err = errors.New(strings.TrimRight(text, "\n"))
	}
	return err
}

// whenSettled calls done when a promise is settled, with its error.
func (e *engine) whenSettled(promise quickjs.Value, done func(error)) error {
	e.vm.SetMemoryLimit(maxMemory + spareMemory)
	defer e.vm.SetMemoryLimit(maxMemory)
	then, err := promise.Then(
		func(quickjs.Value) { done(nil) },
		func(v quickjs.Value) {
			e.vm.SetMemoryLimit(maxMemory + spareMemory)
			done(quickjs.ErrorFromValue(v))
		})
	if err == nil {
		then.Free()
	}
	return err
}

func (e *engine) stop() {
	e.end(errStopped)
	e.mu.Lock()
	defer e.mu.Unlock()
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

// exhausted reports whether a script had no memory left.
func exhausted(err error) bool { return strings.Contains(err.Error(), "out of memory") || unclear(err) }

// unclear reports whether an error has no text: an engine without memory for that throws null.
func unclear(err error) bool { return err.Error() == "null" || err.Error() == "" }

// explain is the text of an error with its place in the script.
func explain(err error) string {
	var e *quickjs.Error
	if unclear(err) {
		return fmt.Sprintf("the script threw null or \"\", or used up its %d MB of memory", maxMemory>>20)
	}
	if !errors.As(err, &e) || e.Stack == "" {
		return err.Error()
	}
	return strings.TrimRight(e.Error()+"\n"+e.Stack, "\n")
}

// trackRejections has the engine tell its prelude of each promise that fails without a handler,
// and of each such promise that gets one. net counts the former less the latter; it must stay
// while the engine is used. Package quickjs does not offer that, so that it is asked
// of the library below it, whose handles are read from fields that are not exported.
func trackRejections(vm *quickjs.VM, net *int64) error {
	r := reflect.Indirect(reflect.ValueOf(vm).Elem().FieldByName("runtime"))
	if r.Kind() != reflect.Struct || r.FieldByName("cRuntime").Kind() != reflect.Uintptr || r.FieldByName("tls").Type() != reflect.TypeFor[*libc.TLS]() {
		return errors.New("this version of the engine has no tracker of failed promises")
	}
	tls := (*libc.TLS)(r.FieldByName("tls").UnsafePointer())
	track := onRejection
	libquickjs.XJS_SetHostPromiseRejectionTracker(tls, uintptr(r.FieldByName("cRuntime").Uint()), *(*uintptr)(unsafe.Pointer(&track)), uintptr(unsafe.Pointer(net)))
	return nil
}

// maxRejections is how many failed promises without a handler are known at once. More are counted.
const maxRejections = 1000

// onRejection adds a promise, and the reason why it failed, to an array of the prelude. It runs no
// JavaScript: what stops the script would stop that instead. Without memory it does nothing.
func onRejection(tls *libc.TLS, ctx uintptr, promise, reason libquickjs.TJSValue, handled int32, net uintptr) {
	count := *(**int64)(unsafe.Pointer(&net)) // it is held by the engine, so that the address is not converted
	array, add := "__hermes_rejected", []libquickjs.TJSValue{promise, reason}
	*count++
	if handled != 0 {
		*count -= 2
		array, add = "__hermes_handled", add[:1]
	}
	name, err := libc.CString(array)
	if err != nil {
		return
	}
	defer libc.Xfree(tls, name)
	length, err := libc.CString("length")
	if err != nil {
		return
	}
	defer libc.Xfree(tls, length)
	number := libc.Xcalloc(tls, 1, 8)
	if number == 0 {
		return
	}
	defer libc.Xfree(tls, number)
	global := libquickjs.XJS_GetGlobalObject(tls, ctx)
	list := libquickjs.XJS_GetPropertyStr(tls, ctx, global, name)
	size := libquickjs.XJS_GetPropertyStr(tls, ctx, list, length)
	if libquickjs.XJS_ToInt64(tls, ctx, number, size) == 0 {
		n := **(**int64)(unsafe.Pointer(&number)) // its memory is none of Go, so that the address is not converted
		for i, v := range add {
			if handled != 0 || n < 2*maxRejections {
				libquickjs.XJS_SetPropertyUint32(tls, ctx, list, uint32(n)+uint32(i), libquickjs.XDupValue(tls, ctx, v))
			}
		}
	}
	for _, v := range []libquickjs.TJSValue{size, list, global, libquickjs.XJS_GetException(tls, ctx)} {
		libquickjs.XFreeValue(tls, ctx, v)
	}
}
