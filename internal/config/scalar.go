package config

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"hermes/internal/text"
	"hermes/internal/yamledit"
)

// Limit is a number where zero means no limit; in the file also none or unlimited.
type Limit int

// put expands and stores a node's value; it returns "" or what is wrong with it.
func (d *decoder) put(p layeredNode, v reflect.Value, f field, path []string) string {
	n := p.node
	if n.Kind == yaml.ScalarNode {
		text := d.expand(p, n, path)
		if text != n.Value {
			n = scalarOf(text)
		}
		return put(n, text, v, f)
	}
	if n.Kind == yaml.SequenceNode && v.Kind() == reflect.Slice {
		items := make([]string, 0, len(n.Content))
		for _, c := range n.Content {
			c = yamledit.Find(c)
			if c.Kind != yaml.ScalarNode {
				d.report(layeredNode{c, p.layer}, path, "must be a list of texts, but one item is a list or a section", "the other items are used")
				continue
			}
			if !isNull(c) {
				items = append(items, d.expand(layeredNode{c, p.layer}, c, path))
			}
		}
		v.Set(reflect.ValueOf(items))
		return ""
	}
	if n.Kind == yaml.MappingNode && v.Kind() == reflect.Slice {
		return "must be a list, not a section"
	}
	return "must be " + wanted(v.Type(), f) + ", not a list or a section"
}

// shownValue is how much of a wrong value an error shows, in bytes.
const shownValue = 40

// put stores one scalar; written is what the file has, n says how YAML reads it.
func put(n *yaml.Node, written string, v reflect.Value, f field) string {
	read := yamledit.Scalar(n)
	if quoted, ok := read.(string); ok && v.Kind() != reflect.String {
		read = yamledit.Plain(strings.TrimSpace(quoted)) // "90" in quotes is still a number
	}
	wrong := func() string {
		return "must be " + wanted(v.Type(), f) + ", not " + strconv.Quote(text.Clip(written, shownValue))
	}
	switch v.Type() {
	case reflect.TypeFor[time.Duration]():
		length, ok := duration(read, written)
		if !ok || outside(length.Seconds(), f) {
			return wrong()
		}
		v.SetInt(int64(length))
		return ""
	case reflect.TypeFor[Limit]():
		i, ok := limit(read, written)
		if !ok {
			return wrong()
		}
		v.SetInt(i)
		return ""
	}
	switch v.Kind() {
	case reflect.String:
		chosen, ok := choice(written, f.oneof)
		if !ok {
			return wrong()
		}
		v.SetString(chosen)
	case reflect.Bool:
		b, ok := truth(read)
		if !ok {
			return wrong()
		}
		v.SetBool(b)
	case reflect.Int:
		i, ok := whole(read)
		if !ok || outside(float64(i), f) {
			return wrong()
		}
		v.SetInt(i)
	case reflect.Float64:
		x, ok := number(read)
		if !ok || outside(x, f) {
			return wrong()
		}
		v.SetFloat(x)
	case reflect.Slice:
		v.Set(reflect.ValueOf(commaList(written)))
	default:
		return wrong()
	}
	return ""
}

// wanted says in words which values a setting takes.
func wanted(t reflect.Type, f field) string {
	bounds := ", at least " + cmp.Or(f.min, "0")
	if f.max != "" {
		bounds = " from " + cmp.Or(f.min, "0") + " to " + f.max
	}
	switch {
	case f.oneof != "":
		return "one of " + strings.Join(strings.Fields(f.oneof), ", ")
	case t == reflect.TypeFor[time.Duration]():
		return "a number of seconds (or 90s, 5m, 2h)" + bounds
	case t == reflect.TypeFor[Limit]():
		return "a number, or none (no limit)"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number" + bounds
	case reflect.Float64:
		return "a number" + bounds
	case reflect.Slice:
		return "a list"
	}
	return "text"
}

func outside(x float64, f field) bool {
	least, err := strconv.ParseFloat(f.min, 64)
	if err != nil {
		least = 0 // sizes, counts and times are never negative
	}
	most, err := strconv.ParseFloat(f.max, 64)
	return x < least || err == nil && x > most
}

func duration(read any, text string) (time.Duration, bool) {
	if read == false || read == nil || strings.EqualFold(text, "none") {
		return 0, true
	}
	if x, ok := number(read); ok {
		if math.Abs(x) > 1e9 || math.IsNaN(x) {
			return 0, false
		}
		return time.Duration(x * float64(time.Second)), true
	}
	text = strings.TrimSpace(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		x, err := strconv.ParseFloat(days, 64)
		return time.Duration(x * 24 * float64(time.Hour)), err == nil && x < 1e5
	}
	length, err := time.ParseDuration(text)
	return length, err == nil
}

func limit(read any, text string) (int64, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "none", "null", "unlimited", "off", "false", "~":
		return 0, true
	}
	i, ok := whole(read)
	return max(i, 0), ok
}

// choice finds a text among those allowed; x:NAME allows any name after x:. YAML reads a bare off as false, so
// false and true mean off and on where these are allowed.
func choice(text, oneof string) (string, bool) {
	allowed := strings.Fields(oneof)
	if len(allowed) == 0 || text == "" {
		return text, true
	}
	low := strings.ToLower(strings.TrimSpace(text))
	if !slices.Contains(allowed, low) {
		switch yamledit.Plain(low) {
		case true:
			low = "on"
		case false:
			low = "off"
		}
	}
	if kind, name, named := strings.Cut(low, ":"); named && slices.Contains(allowed, kind+":NAME") {
		return low, name != "" && !strings.ContainsAny(name, ": \t\n")
	}
	return low, slices.Contains(allowed, low)
}

func truth(read any) (value, ok bool) {
	switch read := read.(type) {
	case bool:
		return read, true
	case int64:
		return read == 1, read == 0 || read == 1
	}
	return false, false
}

func whole(read any) (int64, bool) {
	switch read := read.(type) {
	case int64:
		return read, true
	case float64:
		return int64(read), read == math.Trunc(read) && math.Abs(read) < 1<<53
	case bool:
		return 0, !read // false switches off what 0 switches off
	}
	return 0, false
}

func number(read any) (float64, bool) {
	switch read := read.(type) {
	case int64:
		return float64(read), true
	case float64:
		return read, !math.IsNaN(read) && !math.IsInf(read, 0)
	}
	return 0, false
}

func commaList(text string) []string {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "["), "]")
	items := []string{}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func itoa(i int) string { return strconv.Itoa(i) }
