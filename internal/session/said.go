package session

import (
	"errors"
	"slices"

	"hermes"
)

// The limits of the keys of messages: how long one may be, and how many a session remembers.
const (
	maxKey  = 128
	maxSaid = 256
)

// said are the messages that a session has taken: their keys, so that one that is sent again
// because its answer was lost is not taken twice.
type said struct {
	taken   []string                 // oldest first
	waiting map[string][]func(error) // by key of a message that is being taken: who sent it again
	by      hermes.From              // who sent what the newest turn answers
}

// once returns the reply for a message that is to be taken, or nil if it has been or is being
// taken: then that decides its reply. A message that was refused may be sent again.
func (d *said) once(key string, reply func(error)) func(error) {
	again, taking := d.waiting[key]
	switch {
	case key == "":
		return reply
	case len(key) > maxKey:
		reply(errors.New("the key of the message is too long"))
		return nil
	case slices.Contains(d.taken, key):
		reply(nil)
		return nil
	case taking:
		d.waiting[key] = append(again, reply)
		return nil
	}
	if d.waiting == nil {
		d.waiting = map[string][]func(error){}
	}
	d.waiting[key] = nil
	return func(err error) { d.decided(key, err, reply) }
}

// decided passes the outcome on to all who sent the message.
func (d *said) decided(key string, err error, reply func(error)) {
	again := d.waiting[key]
	delete(d.waiting, key)
	if err == nil {
		d.taken = append(d.taken, key)
		d.taken = d.taken[max(0, len(d.taken)-maxSaid):]
	}
	reply(err)
	for _, r := range again {
		r(err)
	}
}
