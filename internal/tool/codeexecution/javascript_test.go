package codeexecution_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/tool/codeexecution"
)

func (s *scene) js(code string) answer {
	s.Helper()
	a, err := s.call(s.Context(), map[string]any{"code": code, "language": "javascript"})
	if err != nil {
		s.Fatal(err)
	}
	return a
}

func TestJavaScriptCallsTools(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	for code, want := range map[string]string{
		`console.log((await read_file("a", 3)).args)`:                                                                                            `{"offset":3,"path":"a"}` + "\n",
		`import { read_file as r, terminal } from "hermes_tools";` + "\nprint(await r({path: 'b'}), 1)":                                          `{"args":{"path":"b"},"tool":"read_file"} 1` + "\n",
		`import * as t from 'hermes_tools'; print((await t.terminal("ls", {timeout: 4})).args)`:                                                  `{"command":"ls","timeout":4}` + "\n",
		`const all = await Promise.all([1,2,3].map(i => read_file("" + i))); print(all.map(r => r.args.path))`:                                   `["1","2","3"]` + "\n",
		`await new Promise(done => setTimeout(done, 5)); print("later")`:                                                                         "later\n",
		`read_file("x").then(r => print(r.args.path))`:                                                                                           "x\n",
		`print(await hermes_tools.memory({}))`:                                                                                                   `{"error":"memory cannot be called from a script: use it as a normal tool call instead"}` + "\n",
		`print(typeof require, typeof process, typeof std, typeof os, typeof fetch, Object.keys(globalThis).filter(k => k.includes("hermes_")))`: "undefined undefined undefined undefined undefined [\"hermes_tools\"]\n",
	} {
		if a := s.js(code); a.Status != "success" || a.Output != want {
			t.Errorf("%s: got %+v, want %q", code, a, want)
		}
	}
	if a := s.js("function f() { throw new Error('no') }\nf()"); a.Status != "error" || !strings.Contains(a.Output, "Error: no") || !strings.Contains(a.Output, ":1") {
		t.Errorf("got %+v", a)
	}
}

func TestJavaScriptIsLimited(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{MaxCalls: 2})
	if a := newScene(t, codeexecution.Config{Timeout: 3 * time.Second}).js("print(1); for (;;) {}"); a.Status != "timeout" || a.Error != "Script timed out after 3s and was killed." || a.Output != "1\n" {
		t.Errorf("endless: %+v", a)
	}
	if a := s.js("await new Promise(() => {})"); a.Status != "error" {
		t.Errorf("a promise that is never settled: %+v", a)
	}
	if a := newScene(t, codeexecution.Config{}).js("const all = []; for (;;) all.push(new Array(1e5).fill(7))"); a.Status != "error" || !strings.Contains(a.Output, "memory") {
		t.Errorf("memory: %+v", a)
	}
	if a := newScene(t, codeexecution.Config{}).js("let x = 'x'.repeat(1e8); print(x)"); a.Status != "error" || !strings.Contains(a.Output, "memory") {
		t.Errorf("memory while printing: %+v", a)
	}
	if a := s.js("function f() { return 1 + f() } f()"); a.Status != "error" || !strings.Contains(a.Output, "stack") {
		t.Errorf("depth: %+v", a)
	}
	if a := s.js("for (let i = 0; i < 3; i++) print((await read_file('a')).error)"); !strings.HasPrefix(a.Output, "undefined\nundefined\nthe limit of 2 tool calls") {
		t.Errorf("calls: %+v", a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	a, err := s.call(ctx, map[string]any{"code": "for (;;) {}", "language": "javascript"})
	if err != nil || a.Status != "interrupted" || a.Output != "[execution interrupted — user sent a new message]" {
		t.Errorf("got %+v, error %v", a, err)
	}
}

func TestJavaScriptKeepsVariables(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	keep := func(code string, more map[string]any) answer {
		args := map[string]any{"code": code, "language": "javascript", "keep": true}
		for k, v := range more {
			args[k] = v
		}
		a, err := s.call(t.Context(), args)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	keep(`import { read_file } from "hermes_tools"; let n = 1; const f = () => ++n; f()`, nil)
	if a := keep(`import { read_file } from "hermes_tools"; print(f(), n)`, nil); a.Output != "3 3\n" {
		t.Errorf("got %+v", a)
	}
	if a := keep(`print(typeof f)`, map[string]any{"reset": true}); a.Output != "undefined\n" {
		t.Errorf("after reset: %+v", a)
	}
	if a := s.js(`print(typeof f)`); a.Output != "undefined\n" {
		t.Errorf("without keep: %+v", a)
	}
}

// TestTimersThatAreNotNeededEndWithTheScript, also after an error.
func TestTimersThatAreNotNeededEndWithTheScript(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 20 * time.Second})
	for code, want := range map[string]string{
		`const t = setTimeout(() => print("late"), 60000); clearTimeout(t); clearTimeout(t); print(1)`:                            "success",
		`const t = setTimeout(() => {}, 1); setTimeout(() => clearTimeout(t), 20)`:                                                "success",
		`setTimeout(() => {}, 60000); throw new Error("no")`:                                                                      "error",
		`await Promise.race([read_file("a"), new Promise((_, no) => { globalThis.t = setTimeout(no, 60000) })]); clearTimeout(t)`: "success",
	} {
		if a := s.js(code); a.Status != want || a.Took > 10 {
			t.Errorf("%s: got %+v, want %s", code, a, want)
		}
	}
}

// TestOpenCallsEndWithAScriptThatFailed, and not with the time of the script. A kernel goes on.
func TestOpenCallsEndWithAScriptThatFailed(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		s := newScene(t, codeexecution.Config{Timeout: time.Minute})
		causes := make(chan error, 1)
		s.host.tool = func(ctx context.Context, _ string, _ map[string]any) (hermes.Result, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return hermes.Result{}, ctx.Err()
		}
		a, err := s.call(t.Context(), map[string]any{"code": `globalThis.n = 7; terminal("sleep 200"); throw new Error("no")`, "language": "javascript", "keep": keep})
		if cause := <-causes; err != nil || a.Status != "error" || !strings.Contains(a.Output, "Error: no") || cause != context.Canceled {
			t.Errorf("keep %v: got %+v, %v, and the call ended with %v", keep, a, err, cause)
		}
		if !keep {
			continue
		}
		if a, err := s.call(t.Context(), map[string]any{"code": `print(n)`, "language": "javascript", "keep": true}); err != nil || a.Output != "7\n" {
			t.Errorf("the next script: %+v, %v", a, err)
		}
	}
}

// TestErrorsOfTheLastPromiseAreSeen: scripts call main() at their end.
func TestErrorsOfTheLastPromiseAreSeen(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	if a := s.js("async function main() { await read_file('a'); throw new Error('no') }\nmain();"); a.Status != "error" || !strings.Contains(a.Output, "Error: no") {
		t.Errorf("got %+v", a)
	}
	if a := s.js("(async () => { print((await read_file('a')).tool) })()"); a.Status != "success" || a.Output != "read_file\n" {
		t.Errorf("got %+v", a)
	}
	if a := s.js("globalThis.Promise = globalThis.JSON = globalThis.Map = globalThis.Object = null; print((await read_file('a')).tool)"); a.Output != "read_file\n" {
		t.Errorf("with other globals: %+v", a)
	}
}

// TestOpenTimersAndCallsAreLimited: they take memory that is not the engine's.
func TestOpenTimersAndCallsAreLimited(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 2 * time.Minute})
	for _, code := range []string{"for (;;) setTimeout(() => {}, 1e8)", "const all = []; for (let i = 0; i < 2000; i++) all.push(hermes_tools.nothing({}))\nawait Promise.all(all)"} {
		if a := s.js(code); a.Status != "error" || !strings.Contains(a.Output, "more than 1000 calls and timers at once") {
			t.Errorf("%s: got %+v", code, a)
		}
	}
}

// TestFailedPromisesThatNothingHandlesAreErrors, as they are of Node, and those are not that get a
// handler in the same job or the jobs that follow it.
func TestFailedPromisesThatNothingHandlesAreErrors(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 20 * time.Second})
	for code, want := range map[string]string{
		"async function f() { throw new Error('lost') }\nf(); print(1)":                                                "Uncaught (in promise) Error: lost",
		"async function f() { await read_file('a'); throw new Error('late') }\nf(); await read_file('b'); print(1); 2": "Uncaught (in promise) Error: late",
		"Promise.reject('plain'); await read_file('a'); print(1)":                                                      "Uncaught (in promise) plain",
		"new Promise((_, no) => no({ a: 1 })); print(1)":                                                               `Uncaught (in promise) {"a":1}`,
		"setTimeout(async () => { throw new TypeError('timer') }, 1); print(1)":                                        "Uncaught (in promise) TypeError: timer",
		"Promise.reject(new Error('x')).then(() => {}); print(1)":                                                      "Uncaught (in promise) Error: x",
		"Promise.reject(null); print(1)":                                                                               "Uncaught (in promise) null",
		"const o = { toString() { throw 1 } }; Promise.reject(o); print(1)":                                            "Uncaught (in promise) {}",
	} {
		if a := s.js(code); a.Status != "error" || !strings.Contains(a.Output, "[stderr]\n"+want) {
			t.Errorf("%s: got %+v, want %q", code, a, want)
		}
	}
	if a := s.js("async function f() {\n\tthrow new Error('here')\n}\nf(); 1"); !strings.Contains(a.Output, ":2") {
		t.Errorf("without its line: %+v", a)
	}
	for _, code := range []string{
		"const p = Promise.reject(new Error('x')); p.catch(e => print(e.message))",
		"const p = Promise.reject(new Error('x')); Promise.resolve().then(() => p.catch(e => print(e.message)))",
		"const p = (async () => { throw new Error('x') })(); try { await p } catch (e) { print(e.message) }",
		"const all = [1, 2].map(async () => { throw new Error('x') }); await Promise.all(all).catch(e => print(e.message))",
		"const p = Promise.reject(new Error('x')); for (let i = 0; i < 9; i++) await null; await p.catch(e => print(e.message))",
		"await Promise.allSettled([Promise.reject(1)]); print('x')",
	} {
		if a := s.js(code); a.Status != "success" || a.Output != "x\n" {
			t.Errorf("%s: got %+v", code, a)
		}
	}
	many := "const all = []; for (let i = 0; i < 1500; i++) all.push((async () => { throw new Error('x') })())\n"
	if a := s.js(many + "await Promise.allSettled(all); print('x')"); a.Status != "success" || a.Output != "x\n" {
		t.Errorf("many that are handled: got %+v", a)
	}
	if a := s.js(many + "Promise.allSettled(all.slice(1)); print(1)"); a.Status != "error" || !strings.Contains(a.Output, "Uncaught (in promise) Error: x") {
		t.Errorf("the first of many: got %+v", a)
	}
	for _, lost := range []string{"0, -1", "0, -200"} {
		if a := s.js(many + "Promise.allSettled(all.slice(" + lost + ")); print(1)"); a.Status != "error" || !strings.Contains(a.Output, "Uncaught (in promise): ") {
			t.Errorf("the last of many: got %+v", a)
		}
	}
	if a := s.kept("javascript", "var p = 1; Promise.reject(new Error('lost'))"); a.Status != "error" || strings.Contains(a.Error, "kept variables") {
		t.Errorf("got %+v", a)
	}
	if a := s.kept("javascript", "print(p)"); a.Status != "success" || a.Output != "1\n" {
		t.Errorf("the next script: got %+v", a)
	}
	if a := newScene(t, codeexecution.Config{Timeout: 2 * time.Second}).js("for (;;) Promise.reject(1)"); a.Status != "timeout" { // it does not run out of memory
		t.Errorf("endless: %+v", a)
	}
}
