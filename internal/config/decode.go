package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes/internal/yamledit"
)

// decoder fills structs from the layers. It calls fault, visit and unknown, where
// set, for what it finds.
type decoder struct {
	c     *Config
	fault func(Problem)
	visit func(leaf)
	// unknown is called for keys of a file that match no field.
	unknown func(in layer, key, value *yaml.Node, path []string, known []string)
	unset   bool // leaves out defaults
	left    int  // values that sections without fixed keys may still expand to
}

// leaf is one setting as it was found.
type leaf struct {
	path   []string
	field  field
	value  reflect.Value
	source Source
	file   string
	line   int
	env    string // the variable, if the source is one
}

// layeredNode is a node together with its layer.
type layeredNode struct {
	node  *yaml.Node
	layer *layer
}

// maxUnfold limits what anchors may expand to in sections without fixed keys.
const maxUnfold = 50_000

// section decodes the part of the settings at a path into a T.
func section[T any](c *Config, path ...string) T {
	var out T
	c.decode(reflect.ValueOf(&out).Elem(), path)
	return out
}

// decode is section without its type, which is compiled once.
func (c *Config) decode(into reflect.Value, path []string) {
	d := decoder{c: c, left: maxUnfold}
	_, f, _ := lookup(path)
	d.value(d.nodes(path), into, f, path)
}

// Settings returns everything at once.
func (c *Config) Settings() Settings { return section[Settings](c) }

// at finds the nodes at a path, highest precedence first.
func (d *decoder) at(path []string) []layeredNode {
	var nodes []layeredNode
	for i := range d.c.layers {
		l := &d.c.layers[i]
		if n := yamledit.Find(l.root, path...); n != nil {
			nodes = append(nodes, layeredNode{n, l})
		}
	}
	return nodes
}

// nodes is like at, but also accepts an old name of the last part, and a single
// value in place of the section above it.
func (d *decoder) nodes(path []string) []layeredNode {
	if len(path) == 0 {
		return d.at(nil)
	}
	above := path[:len(path)-1]
	at := d.at(above)
	if _, section, _ := lookup(above); section.scalar != "" {
		at = d.sections(at, section.scalar, above)
	}
	_, f, _ := lookup(path)
	return d.children(at, lastOf(path), f.also, path)
}

// value decodes any kind of setting.
func (d *decoder) value(at []layeredNode, v reflect.Value, f field, path []string) {
	switch kind := v.Kind(); {
	case kind == reflect.Struct:
		d.structure(at, v, f, path)
	case kind == reflect.Map && v.Type().Elem().Kind() == reflect.Interface:
		d.free(at, v, path)
	case kind == reflect.Map:
		d.mapping(at, v, f.item(), path, nil)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		d.list(at, v, path)
	case kind == reflect.Interface:
		for _, p := range at {
			if x := d.any(p, path); x != nil {
				v.Set(reflect.ValueOf(x))
				return
			}
		}
	default:
		d.leaf(at, v, f, path)
	}
}

func (d *decoder) structure(at []layeredNode, v reflect.Value, f field, path []string) {
	at = d.sections(at, f.scalar, path)
	rest := -1
	for i, child := range tags(v.Type()) {
		switch inner := v.Field(i); {
		case child.anonymous:
			for _, child := range tags(inner.Type()) {
				d.child(at, inner, child, path)
			}
		case child.key == restKey:
			rest = i
		default:
			child.prefix = cmp.Or(f.prefix, child.prefix)
			d.child(at, v, child, path)
		}
	}
	if rest >= 0 {
		d.remains(at, v.Field(rest), path, names(v.Type()))
		return
	}
	d.unknownKeys(at, path, names(v.Type()))
}

// child decodes one field of v.
func (d *decoder) child(at []layeredNode, v reflect.Value, f field, path []string) {
	below := append(slices.Clip(path), f.key)
	d.value(d.children(at, f.key, f.also, below), v.Field(f.index), f, below)
}

// children returns the nodes of one key; if a file has only its other or its old
// name, that one is used.
func (d *decoder) children(at []layeredNode, key, also string, path []string) []layeredNode {
	var nodes []layeredNode
	for i := range d.c.layers {
		l := &d.c.layers[i]
		var n *yaml.Node
		for _, p := range at {
			if p.layer == l {
				n = yamledit.Find(p.node, key)
				d.twoNames(p, key, also, path)
				if also != "" && (n == nil || isNull(n)) {
					n = cmp.Or(yamledit.Find(p.node, also), n)
				}
			}
		}
		if n == nil {
			n = formerly(l, path)
		}
		if n != nil {
			nodes = append(nodes, layeredNode{n, l})
		}
	}
	return nodes
}

// sections keeps the nodes that are mappings. A single value in place of a section
// sets one of its keys, if the section names one.
func (d *decoder) sections(at []layeredNode, scalar string, path []string) []layeredNode {
	var kept []layeredNode
	for _, p := range at {
		switch {
		case p.node.Kind == yaml.MappingNode:
			kept = append(kept, p)
		case isNull(p.node):
		case p.node.Kind == yaml.ScalarNode && scalar != "":
			wrapped := &yaml.Node{Kind: yaml.MappingNode, Line: p.node.Line, Content: []*yaml.Node{
				{Kind: yaml.ScalarNode, Value: scalar, Line: p.node.Line}, p.node}}
			kept = append(kept, layeredNode{wrapped, p.layer})
		default:
			d.reportSection(p, path)
		}
	}
	return kept
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && yamledit.Scalar(n) == nil }

// mapping decodes a map of one kind of value and joins the keys of all layers.
func (d *decoder) mapping(at []layeredNode, v reflect.Value, f field, path, except []string) {
	at = d.sections(at, "", path)
	for _, key := range append(keysOf(at, except), d.formerKeys(at, path)...) {
		below := append(slices.Clip(path), key)
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(d.children(at, key, "", below), item, f, below)
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(key), item)
	}
}

// remains decodes the keys of a section that match no field.
func (d *decoder) remains(at []layeredNode, v reflect.Value, path, known []string) {
	if v.Type().Elem().Kind() != reflect.Interface {
		d.mapping(at, v, field{}, path, known)
		return
	}
	d.freeKeys(at, v, path, known)
}

// keysOf lists the keys of several mappings in file order.
func keysOf(at []layeredNode, except []string) []string {
	var keys []string
	for _, p := range at {
		for _, key := range yamledit.Keys(p.node) {
			if !slices.Contains(except, key) && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// list decodes a list of sections; lists of several layers are not joined.
func (d *decoder) list(at []layeredNode, v reflect.Value, path []string) {
	for _, p := range at {
		if isNull(p.node) {
			continue
		}
		items := []*yaml.Node{p.node} // a single section counts as a list of one
		if p.node.Kind == yaml.SequenceNode {
			items = p.node.Content
		}
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
		for i, n := range items {
			below := append(slices.Clip(path), itoa(i))
			d.value([]layeredNode{{yamledit.Find(n), p.layer}}, v.Index(i), field{}, below)
		}
		return
	}
}

// leaf decodes a single value from the layers, else from its variables, else from
// its default. A variable that overrides the file is read before the file.
func (d *decoder) leaf(at []layeredNode, v reflect.Value, f field, path []string) {
	l := leaf{path: path, field: f, value: v, source: FromDefault}
	defer func() {
		if d.visit != nil {
			d.visit(l)
		}
	}()
	for _, p := range at {
		if p.layer.source == FromFile && d.overridden(v, f, &l) {
			return
		}
		if isNull(p.node) {
			continue
		}
		fault := d.put(p, v, f, path)
		if fault != "" && f.wrong != "" {
			d.report(p, path, fault, f.wrong+" is used instead")
			fault = put(scalarOf(f.wrong), f.wrong, v, f)
		}
		if fault == "" {
			l.source, l.file, l.line = p.layer.source, p.layer.file, p.node.Line
			return
		}
		d.report(p, path, fault, "it is ignored")
		if careful(path) && v.Kind() != reflect.Slice {
			break // the default is careful, another source may not be
		}
	}
	if d.overridden(v, f, &l) {
		return
	}
	for _, name := range f.variables() {
		text, ok := d.c.LookupEnv(name)
		if !ok || text == "" {
			continue
		}
		fault := put(scalarOf(text), text, v, f)
		if fault == "" {
			l.source, l.env = FromEnv, name
			return
		}
		d.add(Problem{Severity: Warning, Key: yamledit.Join(path), Text: "(variable " + name + ") " + fault,
			Served: "it is ignored", Do: "Fix or unset the variable"})
	}
	v.SetZero()
	if f.def != "" && !d.unset {
		put(scalarOf(f.def), f.def, v, f)
	}
}

// overridden takes the variable that overrides the file, if it is set.
func (d *decoder) overridden(v reflect.Value, f field, l *leaf) bool {
	if f.override == "" {
		return false
	}
	text, _ := d.c.LookupEnv(f.override)
	if text = strings.TrimSpace(text); text == "" || put(scalarOf(text), text, v, f) != "" {
		return false
	}
	l.source, l.env = FromEnv, f.override
	return true
}

func scalarOf(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

func (d *decoder) report(p layeredNode, path []string, text, served string) {
	d.reportDo(p, path, text, served, "VALUE")
}

// reportSection reports something else in place of a section.
func (d *decoder) reportSection(p layeredNode, path []string) {
	value := "{NAME: VALUE}"
	if t, _, known := lookup(path); known && t.Kind() == reflect.Struct {
		value = sample(t)
	}
	d.reportDo(p, path, "must be a section with keys, written as `name: value`", "it is ignored", "'"+value+"'")
}

// sample shows how a section is written, by its first key.
func sample(t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return "VALUE"
	}
	return "{" + t.Field(0).Tag.Get("key") + ": " + sample(t.Field(0).Type) + "}"
}

func (d *decoder) reportDo(p layeredNode, path []string, text, served, value string) {
	whole := wholeEntry(path, p.node)
	d.add(Problem{Severity: Warning, File: p.layer.file, Line: p.node.Line, Key: yamledit.Join(path),
		address: whole || lastOf(path) == addressKey, whole: whole, Text: text, Served: served, Do: "Fix it with `hermes config set " + yamledit.Join(path) + " " + value + "`"})
}

func (d *decoder) add(p Problem) {
	if d.fault != nil {
		d.fault(p)
	}
}

// unknownKeys reports keys of a section that match no field.
func (d *decoder) unknownKeys(at []layeredNode, path, known []string) {
	if d.unknown == nil {
		return
	}
	for _, p := range at {
		for i := 0; i+1 < len(p.node.Content); i += 2 {
			key := p.node.Content[i]
			if key.Kind == yaml.ScalarNode && key.Value != "<<" && !slices.Contains(known, key.Value) {
				d.unknown(*p.layer, key, p.node.Content[i+1], append(slices.Clip(path), key.Value), known)
			}
		}
	}
}
