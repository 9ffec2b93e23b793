package schema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// object is a JSON object that keeps the order of its keys.
type object []member

type member struct {
	key   string
	value any // *object, []any, string, json.Number, bool, nil
}

func (o *object) index(key string) int {
	return slices.IndexFunc(*o, func(m member) bool { return m.key == key })
}

func (o *object) has(key string) bool { return o.index(key) >= 0 }

func (o *object) get(key string) any {
	if i := o.index(key); i >= 0 {
		return (*o)[i].value
	}
	return nil
}

func (o *object) set(key string, value any) {
	if i := o.index(key); i >= 0 {
		(*o)[i].value = value
		return
	}
	*o = append(*o, member{key, value})
}

func (o *object) drop(key string) {
	*o = slices.DeleteFunc(*o, func(m member) bool { return m.key == key })
}

func (o *object) move(key string, to *object) {
	if o.has(key) {
		to.set(key, o.get(key))
		o.drop(key)
	}
}

// parse reads JSON into a tree; nil if it is invalid. Every call makes a new tree.
func parse(raw json.RawMessage) any {
	if !json.Valid(raw) { // bounds the depth as well
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return readValue(dec)
}

func readValue(dec *json.Decoder) any {
	tok, err := dec.Token()
	if err != nil {
		return nil
	}
	switch tok {
	case json.Delim('{'):
		o := &object{}
		seen := map[string]int{} // a hostile schema may have a huge number of keys
		for dec.More() {
			key, _ := dec.Token()
			name, _ := key.(string)
			if i, again := seen[name]; again {
				(*o)[i].value = readValue(dec)
				continue
			}
			seen[name] = len(*o)
			*o = append(*o, member{name, readValue(dec)})
		}
		_, _ = dec.Token() // the closer of valid JSON
		return o
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			list = append(list, readValue(dec))
		}
		_, _ = dec.Token()
		return list
	}
	return tok
}

func encode(v any) json.RawMessage {
	var b bytes.Buffer
	write(&b, v)
	return b.Bytes()
}

func write(b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case *object:
		b.WriteByte('{')
		for i, m := range *v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeScalar(b, m.key)
			b.WriteByte(':')
			write(b, m.value)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item)
		}
		b.WriteByte(']')
	default:
		writeScalar(b, v)
	}
}

// writeScalar does not escape <, > and &, which models read better.
func writeScalar(b *bytes.Buffer, v any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err == nil {
		b.Truncate(b.Len() - 1) // the line break of Encode
	}
}
