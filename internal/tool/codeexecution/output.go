package codeexecution

import (
	"sync"

	"hermes/internal/window"
)

// output is what a script prints: both ends of it for the model, and all of it up to
// maxSaved bytes to be saved. Its methods may be called concurrently.
type output struct {
	shown *window.Window

	mu  sync.Mutex
	all []byte
}

func newOutput() *output { return &output{shown: window.New(maxOutput)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	o.all = append(o.all, p[:min(len(p), maxSaved-len(o.all))]...)
	o.mu.Unlock()
	return o.shown.Write(p)
}

// text is what the model gets.
func (o *output) text() string { return o.shown.Text(leftOut) }

// whole returns all of the output, and reports whether the model gets less.
func (o *output) whole() (all string, cut bool) {
	if !o.shown.Cut() {
		return "", false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.all), true
}
