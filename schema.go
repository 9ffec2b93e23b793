package hermes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// SchemaOf returns the JSON Schema of a struct. The same struct always gives
// the same bytes. It supports strings, bools, integers, floats, slices, maps
// with string keys, nested structs, pointers to these, and json.RawMessage
// (any value). The tags of a field are:
//
//	json:"name,omitempty"   the name; omitempty or a pointer makes it optional
//	doc:"…"                 the description
//	enum:"a,b"              the values of a string
//	default:"500"           the default, as JSON or a bare word
//	min:"1" max:"2000"      bounds of a number; of a slice, its length
//
// It panics on any other type.
func SchemaOf[T any]() json.RawMessage {
	var b bytes.Buffer
	writeSchema(&b, reflect.TypeFor[T](), "")
	return b.Bytes()
}

func writeSchema(b *bytes.Buffer, t reflect.Type, tag reflect.StructTag) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		b.WriteByte('{')
		writeDoc(b, tag)
		b.WriteByte('}')
		return
	}
	b.WriteString(`{"type":`)
	switch t.Kind() {
	case reflect.String:
		b.WriteString(`"string"`)
		writeEnum(b, tag.Get("enum"))
	case reflect.Bool:
		b.WriteString(`"boolean"`)
	case reflect.Int, reflect.Int64, reflect.Int32:
		b.WriteString(`"integer"`)
		writeBounds(b, tag, "minimum", "maximum")
	case reflect.Float64:
		b.WriteString(`"number"`)
		writeBounds(b, tag, "minimum", "maximum")
	case reflect.Slice:
		b.WriteString(`"array","items":`)
		writeSchema(b, t.Elem(), itemTag(tag))
		writeBounds(b, tag, "minItems", "maxItems")
	case reflect.Map:
		b.WriteString(`"object","additionalProperties":`)
		writeSchema(b, t.Elem(), "")
	case reflect.Struct:
		b.WriteString(`"object"`)
		writeFields(b, t)
	default:
		panic(fmt.Sprintf("hermes: no schema for %v", t))
	}
	writeDoc(b, tag)
	if d, ok := tag.Lookup("default"); ok {
		b.WriteString(`,"default":`)
		b.Write(literal(d))
	}
	b.WriteByte('}')
}

func writeFields(b *bytes.Buffer, t reflect.Type) {
	var required []string
	b.WriteString(`,"properties":{`)
	first := true
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		if !first {
			b.WriteByte(',')
		}
		first = false
		b.Write(literal(name))
		b.WriteByte(':')
		writeSchema(b, f.Type, f.Tag)
		if !strings.Contains(options, "omitempty") && f.Type.Kind() != reflect.Pointer {
			required = append(required, name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":`)
		list, _ := marshalPlain(required)
		b.Write(list)
	}
}

// itemTag returns the tags of a slice that apply to its items (enum).
func itemTag(tag reflect.StructTag) reflect.StructTag {
	if enum := tag.Get("enum"); enum != "" {
		return reflect.StructTag(`enum:"` + enum + `"`)
	}
	return ""
}

func writeEnum(b *bytes.Buffer, list string) {
	if list == "" {
		return
	}
	values, _ := marshalPlain(strings.Split(list, ","))
	b.WriteString(`,"enum":`)
	b.Write(values)
}

func writeBounds(b *bytes.Buffer, tag reflect.StructTag, low, high string) {
	if v := tag.Get("min"); v != "" {
		fmt.Fprintf(b, `,%q:%s`, low, v)
	}
	if v := tag.Get("max"); v != "" {
		fmt.Fprintf(b, `,%q:%s`, high, v)
	}
}

func writeDoc(b *bytes.Buffer, tag reflect.StructTag) {
	doc := tag.Get("doc")
	if doc == "" {
		return
	}
	if b.Bytes()[b.Len()-1] != '{' {
		b.WriteByte(',')
	}
	b.WriteString(`"description":`)
	b.Write(literal(doc))
}

// literal returns s if it is valid JSON, else s as a JSON string.
func literal(s string) []byte {
	if json.Valid([]byte(s)) {
		return []byte(s)
	}
	text, _ := marshalPlain(s)
	return text
}

// marshalPlain encodes v without escaping <, > and &, which models read badly.
func marshalPlain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
