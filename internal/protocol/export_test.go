package protocol

import (
	"reflect"

	"hermes"
)

// Events returns the zero value of each event in the table of the codec, by its name.
func Events() map[string]hermes.Event { return zero(events) }

// Ops returns the zero value of each operation in the table of the codec, by its name.
func Ops() map[string]hermes.Op { return zero(ops) }

// The limits of strict decoding.
const (
	MaxDepth  = maxDepth
	MaxValues = maxValues
)

func zero[T any](kinds []kind[T]) map[string]T {
	list := map[string]T{}
	for _, k := range kinds {
		list[k.name] = reflect.Zero(k.of).Interface().(T)
	}
	return list
}
