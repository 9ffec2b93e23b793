package protocol

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The limits of what is decoded strictly, which keep a small message from taking much memory.
const (
	maxDepth  = 32
	maxValues = 100_000
)

// DecodeStrict reads one JSON object into the struct that into points to, as a server reads
// what a client sent. It refuses what may mean something else to the client than to
// the server: fields that it does not know, also in nested objects, a field that is there twice or
// in another case, texts that are not valid Unicode, more than one value, and deep nesting. null
// is the same as no value. The error names the field and says what is wrong.
func DecodeStrict(raw []byte, into any) error {
	if err := checkJSON(raw); err != nil {
		return err
	}
	return decodeStrict(raw, into)
}

// checkJSON reports what keeps a text from being one JSON value.
func checkJSON(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("the text is not valid UTF-8")
	}
	if json.Valid(raw) {
		return nil
	}
	err := json.Unmarshal(raw, new(struct{})) // only to learn why: it reads nothing of what is not valid
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the text is not one JSON value: byte %d: %w", e.Offset, e)
	}
	return fmt.Errorf("the text is not one JSON value: %w", err)
}

// decodeStrict reads valid JSON. The outermost object may also have the fields also.
func decodeStrict(raw []byte, into any, also ...field) error {
	s := strict{raw: raw, also: also, known: map[reflect.Type][]field{}}
	if s.space(); s.raw[s.at] != '{' {
		return errors.New("it must be an object")
	}
	if err := s.value(reflect.TypeOf(into).Elem(), 0); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("%s: %s is no value that it can have", e.Field, e.Value)
		}
		return err
	}
	return nil
}

// strict walks over a valid JSON text beside the type that it is read into.
type strict struct {
	raw    []byte
	at     int
	values int
	also   []field
	known  map[reflect.Type][]field
}

// field is a field that an object may have.
type field struct {
	name string
	of   reflect.Type
}

// wrong says what is wrong with the value at path.
type wrong struct{ path, text string }

func (w *wrong) Error() string {
	path := strings.TrimPrefix(w.path, ".")
	if path == "" {
		return w.text
	}
	return path + ": " + w.text
}

// within adds the place of the value to an error.
func within(err error, place string) error {
	if w, ok := errors.AsType[*wrong](err); ok {
		w.path = place + w.path
	}
	return err
}

// value checks the next value. A nil type may be any.
func (s *strict) value(t reflect.Type, depth int) error {
	if s.values++; s.values > maxValues {
		return &wrong{text: fmt.Sprintf("the message has more than %d values", maxValues)}
	}
	if depth > maxDepth {
		return &wrong{text: fmt.Sprintf("it is nested more than %d levels deep", maxDepth)}
	}
	s.space()
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if custom(t) {
		t = nil
	}
	first := s.raw[s.at]
	if want, ok := fits(t, first); !ok {
		return &wrong{text: "it must be " + want}
	}
	switch first {
	case '{':
		return s.object(t, depth)
	case '[':
		return s.list(t, depth)
	case '"':
		_, err := s.text()
		return err
	}
	for s.at < len(s.raw) && strings.IndexByte(",]} \t\r\n", s.raw[s.at]) < 0 {
		s.at++
	}
	return nil
}

// custom reports whether a type reads its JSON itself.
func custom(t reflect.Type) bool {
	if t == nil || t.Kind() == reflect.Interface {
		return true
	}
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// fits reports whether a value that begins with this byte can be read into a type, and what
// it should be.
func fits(t reflect.Type, first byte) (want string, ok bool) {
	if t == nil || first == 'n' {
		return "", true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object", first == '{'
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a text in base64", first == '"'
		}
		return "a list", first == '['
	case reflect.String:
		return "a text", first == '"'
	case reflect.Bool:
		return "true or false", first == 't' || first == 'f'
	default:
		return "a number", first == '-' || first >= '0' && first <= '9'
	}
}

func (s *strict) object(t reflect.Type, depth int) error {
	seen := map[string]bool{}
	for s.step('{'); s.more('}'); {
		name, err := s.name()
		if err != nil {
			return err
		}
		place := "." + short(name)
		if seen[name] {
			return within(&wrong{text: "it is there twice"}, place)
		}
		seen[name] = true
		of, err := s.member(t, name, depth)
		if err != nil {
			return within(err, place)
		}
		s.step(':')
		if err := s.value(of, depth+1); err != nil {
			return within(err, place)
		}
	}
	return nil
}

// member returns the type of a member of an object.
func (s *strict) member(t reflect.Type, name string, depth int) (reflect.Type, error) {
	switch {
	case t == nil:
		return nil, nil
	case t.Kind() == reflect.Map:
		return t.Elem(), nil
	}
	fields := s.fields(t)
	if depth == 0 {
		fields = append(slices.Clip(fields), s.also...)
	}
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return nil, &wrong{text: unknown(name, fields)}
	}
	return fields[i].of, nil
}

// unknown says that there is no such field, and which there are.
func unknown(name string, fields []field) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		if list[i] = f.name; strings.EqualFold(f.name, name) {
			return "there is no such field; it is written " + f.name
		}
	}
	if len(list) == 0 {
		return "there is no such field; none is allowed here"
	}
	return "there is no such field; there are " + strings.Join(list, ", ")
}

func (s *strict) list(t reflect.Type, depth int) error {
	var of reflect.Type
	if t != nil {
		of = t.Elem()
	}
	s.step('[')
	for i := 0; s.more(']'); i++ {
		if err := s.value(of, depth+1); err != nil {
			return within(err, "["+strconv.Itoa(i)+"]")
		}
	}
	return nil
}

// fields returns the fields of a struct.
func (s *strict) fields(t reflect.Type) []field {
	list, ok := s.known[t]
	if ok {
		return list
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			list = append(list, field{name, f.Type})
		}
	}
	s.known[t] = list
	return list
}

// text steps over a text and returns it as it is written, with quotes.
func (s *strict) text() ([]byte, error) {
	start, escaped := s.at, false
	for s.at++; s.raw[s.at] != '"'; s.at++ {
		if s.raw[s.at] == '\\' {
			escaped = true
			s.at++
		}
	}
	s.at++
	literal := s.raw[start:s.at]
	if escaped && !wholeRunes(literal) {
		return nil, &wrong{text: "the text has half of a character"}
	}
	return literal, nil
}

// name reads the name of a field.
func (s *strict) name() (string, error) {
	literal, err := s.text()
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1]), nil
	}
	var name string
	err = json.Unmarshal(literal, &name)
	return name, err
}

// wholeRunes reports whether each \u escape of a surrogate is one of a pair.
func wholeRunes(literal []byte) bool {
	unit := func(i int) (rune, bool) {
		if i+6 > len(literal) || literal[i] != '\\' || literal[i+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(literal[i+2:i+6]), 16, 16)
		return rune(n), err == nil
	}
	for i := 0; i < len(literal); i++ {
		if literal[i] != '\\' {
			continue
		}
		r, ok := unit(i)
		if !ok {
			i++ // another escape
			continue
		}
		if i += 5; utf16.IsSurrogate(r) {
			low, ok := unit(i + 1)
			if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				return false
			}
			i += 6
		}
	}
	return true
}

// more steps to the next element of an object or list. It returns false at the end, which it
// steps over.
func (s *strict) more(end byte) bool {
	s.step(',')
	return !s.step(end)
}

// step steps over blanks, then over c, and reports whether that was there.
func (s *strict) step(c byte) bool {
	s.space()
	if s.raw[s.at] != c {
		return false
	}
	s.at++
	return true
}

// space steps over blanks.
func (s *strict) space() {
	for s.at < len(s.raw) && strings.IndexByte(" \t\r\n", s.raw[s.at]) >= 0 {
		s.at++
	}
}

// short returns the beginning of a name for an error.
func short(name string) string {
	const most = 40
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return name
}
