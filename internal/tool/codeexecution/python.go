package codeexecution

import (
	"context"
	"errors"
	"time"

	"hermes"
)

var errNoPython = errors.New("no Python was found where commands run; call it again with language javascript, which needs none, or call the tools one by one")

// python runs a Python script of a call until it ends.
func (t *Toolset) python(ctx context.Context, c *hermes.Call, s *script) ending {
	if c.Host.Environment() == nil {
		return ending{err: errors.New("this session has no environment to run scripts in; call it with language javascript")}
	}
	if s.in.Keep {
		if !t.config.Strict {
			s.dir = folderOf(c.Host.Environment())
		}
		return t.kernels.run(ctx, kernelKey{c.Host.Session().ID, "python"}, boundsOf(ctx, c.Host), s, func(life context.Context) (kernel, error) {
			return t.start(life, c)
		})
	}
	p, err := t.start(ctx, c)
	if err != nil {
		return ending{err: err}
	}
	p.begin(ctx, s, false)
	<-p.done
	end := p.ending()
	if errors.Is(end.err, errNoPython) {
		return t.micro(ctx, s)
	}
	return end
}

// notFound is the exit code of shells, and of programs such as pyenv's, for a program that is missing.
const notFound = 127

// ending says how the process ended.
func (p *process) ending() ending {
	end := p.exit
	if (end.code == noPython || end.code == notFound) && !p.python() {
		end.err = errNoPython
	}
	return end
}

// printTime is how long a kernel may take to pass on what a script has printed.
const printTime = 2 * time.Second

// runs runs a script in a kernel. It reports false if the kernel has ended.
func (p *process) runs(ctx context.Context, s *script) (ending, bool) {
	r := p.begin(ctx, s, true)
	defer p.finish()
	select {
	case <-r.ended:
	case <-p.done:
		return p.ending(), false
	case <-ctx.Done():
		p.end(context.Cause(ctx))
		<-p.done
		return ending{err: context.Cause(ctx)}, false
	}
	timer := time.NewTimer(printTime)
	defer timer.Stop()
	for range outputs {
		select {
		case <-r.printed:
			continue
		case <-timer.C: // the script has closed an output
		case <-p.done:
		}
		break
	}
	return ending{code: r.code}, true
}

func (p *process) stop() {
	p.end(errStopped)
	<-p.done
}

func (p *process) over() <-chan struct{} { return p.done }
