package proc

import "time"

// forceWait is how long Kill waits for a group after its forced end.
const forceWait = 10 * time.Second

// Left reports whether the child has exited, but a process that it started still
// runs in its group or holds its output open.
func (p *Process) Left() bool {
	select {
	case <-p.done:
	default:
		return false
	}
	for _, pm := range p.pumps {
		if !pm.finished() {
			return true
		}
	}
	return p.child.Left()
}

// Kill ends the child and everything that it started: by a signal, and after the
// grace period by force. It returns when they have ended; a second call waits for
// the first.
func (p *Process) Kill() error {
	p.ending.Do(func() {
		defer close(p.ended)
		if p.reaped() && !p.child.Left() {
			return
		}
		p.child.Signal(false)
		deadline := time.Now().Add(p.grace)
		for !p.reaped() || p.child.Left() {
			if time.Now().After(deadline) {
				p.force()
				break
			}
			p.pause()
		}
		<-p.exited
	})
	<-p.ended
	return nil
}

// force ends the group by force and waits until it has ended. It gives up on
// processes that the kernel cannot end, such as during a read from a dead disk.
func (p *Process) force() {
	p.child.Signal(true)
	<-p.exited
	for deadline := time.Now().Add(forceWait); p.child.Left() && time.Now().Before(deadline); {
		p.pause()
	}
}

func (p *Process) reaped() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// pause waits a moment for a child or, if it has ended, for the grandchildren.
func (p *Process) pause() {
	const moment = 10 * time.Millisecond
	if p.reaped() {
		time.Sleep(moment)
		return
	}
	select {
	case <-p.exited:
	case <-time.After(moment):
	}
}

// Close ends the child and everything it started, if still running, and waits
// until the processes and the output have ended. It may be called more than once.
func (p *Process) Close() {
	if !p.reaped() || p.Left() {
		_ = p.Kill()
	}
	<-p.done
	_ = p.CloseInput()
	for _, pm := range p.pumps {
		pm.from.Close()
		<-pm.done
	}
	p.child.Close()
}
