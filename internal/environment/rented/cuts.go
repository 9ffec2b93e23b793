package rented

import (
	"time"
)

const (
	// vainCuts is how many connections in a row may end early without any output.
	vainCuts = 3
	// idleTime is how long a connection lives at least that does not end early.
	idleTime = 15 * time.Second
)

// Cuts says when an output that is cut again and again is given up: services also end connections
// on which nothing comes for a while, however long a command is silent. One goroutine uses it.
type Cuts struct {
	now   func() time.Time
	began time.Time
	vain  int
}

// Cuts returns what counts the cuts of one output.
func (c *Client) Cuts() *Cuts { return &Cuts{now: c.Now} }

// Begin is called before each connection.
func (c *Cuts) Begin() { c.began = c.now() }

// GiveUp counts a connection that ended with the error cut, with whether it brought some of the
// output, and reports whether there should be no other. One that never was is not counted as long.
func (c *Cuts) GiveUp(cut error, brought bool) bool {
	long := c.now().Sub(c.began) >= idleTime && !neverMade(cut)
	if c.vain++; brought || long {
		c.vain = 0
	}
	return c.vain > vainCuts
}
