package tui

import "time"

// How often the chat draws: at most thirty frames a second, ten for the spinner.
const (
	frameTime = 33 * time.Millisecond
	slowTime  = 500 * time.Millisecond // between frames on a slow terminal
	tickTime  = 100 * time.Millisecond
	calmTime  = 60 * time.Millisecond // since the last change of the size
)

// drawing draws the model on the terminal, when something has changed and not
// too often.
type drawing struct {
	tty    *terminal
	screen *screen
	dirty  bool // something has changed
	drawn  time.Time
	cost   time.Duration // of the last frame: a slow terminal gets fewer
	sized  time.Time
}

// wait is how long to wait before the next frame; 0 is now.
func (d *drawing) wait(m *model) time.Duration {
	if wait := max(frameTime, min(4*d.cost, slowTime)) - time.Since(d.drawn); wait > 0 {
		return wait
	}
	d.fit(m)
	return max(calmTime-time.Since(d.sized), 0)
}

// fit adopts the size of the terminal. While the size changes nothing is
// drawn: the terminal wraps its rows again at its own pace, and a frame written
// meanwhile would stay on the screen as garbage.
func (d *drawing) fit(m *model) {
	w, h := d.tty.size()
	if w == d.screen.width && h == m.height {
		return
	}
	_ = d.screen.resize(w) // the next draw reports a lost terminal
	m.update(sizeMsg{w, h})
	d.sized = time.Now()
}

// draw draws a frame. An error means that the terminal is gone.
func (d *drawing) draw(m *model) error {
	d.dirty = false
	start := time.Now()
	err := d.screen.draw(m.take(), m.view())
	d.drawn = time.Now()
	d.cost = d.drawn.Sub(start)
	return err
}

// end draws for the last time and removes the region. The text of the model that is in it stays
// in the scrollback.
func (d *drawing) end(m *model) error {
	m.finish()
	_ = d.draw(m) // stop reports a lost terminal
	return d.screen.stop()
}

// suspend gives the terminal back to the shell until the chat is continued.
func (d *drawing) suspend(m *model) error {
	_ = d.screen.stop()
	d.tty.restore()
	suspendProcess()
	if err := d.tty.raw(); err != nil {
		return err
	}
	width, height := d.tty.size()
	d.screen.width = width
	_ = d.screen.start()
	m.update(sizeMsg{width, height})
	return d.draw(m)
}
