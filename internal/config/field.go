package config

import (
	"cmp"
	"reflect"
	"strings"
	"sync"
)

// field is a key with its tags.
type field struct {
	index                                          int
	anonymous                                      bool
	key, def, oneof, min, max, env, prefix, scalar string
	planned, promises, wrong, override, also       string
}

const restKey = "*"

// variables lists the environment variables that may set the value.
func (f field) variables() []string {
	var names []string
	if f.env != "" {
		names = append(names, f.env)
	}
	if f.prefix != "" && f.key != "" {
		names = append(names, f.prefix+strings.ToUpper(f.key))
	}
	return names
}

// lookup follows a path through the struct types and returns the type and the
// tags there. It reports false at an unknown part.
func lookup(path []string) (reflect.Type, field, bool) {
	t, f := reflect.TypeFor[Settings](), field{}
	for _, name := range path {
		switch t.Kind() {
		case reflect.Struct:
			next, found := fieldOf(t, name)
			if !found {
				return nil, field{}, false
			}
			next.inherit(f)
			t, f = next.owner.Field(next.index).Type, next.field
			if next.rest {
				t, f = t.Elem(), f.item()
			}
			if next.rest && next.owner == reflect.TypeFor[AuxiliaryTasks]() {
				task, isTask := sideTasks[name]
				if !isTask {
					return nil, field{}, false
				}
				f.planned = task.planned
			}
		case reflect.Map, reflect.Slice:
			t, f = t.Elem(), f.item()
		case reflect.Interface:
			f = field{planned: f.planned}
		default:
			return nil, field{}, false
		}
	}
	return t, f, true
}

// found is a field together with its struct.
type found struct {
	field
	owner reflect.Type
	rest  bool
}

// inherit takes the variable's prefix and what it waits for from the section.
func (f *found) inherit(section field) {
	f.planned = cmp.Or(f.planned, section.planned)
	if section.prefix != "" {
		f.prefix = section.prefix
	}
}

// item holds the tags that apply to each value of a map or list as well.
func (f field) item() field { return field{min: f.min, max: f.max, planned: f.planned} }

func fieldOf(t reflect.Type, name string) (found, bool) {
	var rest *found
	for i, f := range tags(t) {
		if f.anonymous {
			if inner, ok := fieldOf(t.Field(i).Type, name); ok {
				return inner, true
			}
			continue
		}
		switch {
		case f.key == name || f.also != "" && f.also == name:
			return found{field: f, owner: t}, true
		case f.key == restKey:
			rest = &found{field: f, owner: t, rest: true}
		}
	}
	if rest != nil {
		return *rest, true
	}
	return found{}, false
}

// tagsOf has the fields of every struct type of the settings that was read: to parse the
// tags again for each value took a third of the program's start.
var tagsOf, namesOf sync.Map // of reflect.Type to []field, and to []string

// names returns the names of the fields of a struct type and of those embedded in it. The
// list is shared.
func names(t reflect.Type) []string {
	if known, ok := namesOf.Load(t); ok {
		return known.([]string)
	}
	var list []string
	for _, f := range tags(t) {
		switch {
		case f.anonymous:
			list = append(list, names(t.Field(f.index).Type)...)
		case f.key == restKey:
		case f.also != "":
			list = append(list, f.key, f.also)
		default:
			list = append(list, f.key)
		}
	}
	namesOf.Store(t, list)
	return list
}

// tags returns the fields of a struct type in order. The list is shared.
func tags(t reflect.Type) []field {
	if known, ok := tagsOf.Load(t); ok {
		return known.([]field)
	}
	fields := make([]field, t.NumField())
	for i := range fields {
		sf := t.Field(i)
		get := sf.Tag.Get
		fields[i] = field{i, sf.Anonymous, get("key"), get("default"), get("oneof"), get("min"), get("max"), get("env"), get("prefix"), get("scalar"), get("planned"), get("promises"), get("wrong"), get("override"), get("also")}
	}
	tagsOf.Store(t, fields)
	return fields
}
