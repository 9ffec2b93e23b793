package webpage

import (
	"strconv"
	"strings"
)

// style is an inline style. Which of several declarations of a name counts depends on what a browser
// knows, so all of them are kept: one that hides is enough.
type style []declaration

type declaration struct{ name, value string }

func styleOf(text string) style {
	if text == "" {
		return nil
	}
	var s style
	for rule := range strings.SplitSeq(strings.ToLower(unescaped(uncommented(text))), ";") {
		name, value, _ := strings.Cut(rule, ":")
		if i := strings.LastIndexByte(value, '!'); i >= 0 {
			value = value[:i]
		}
		if name, value = strings.TrimSpace(name), strings.Join(strings.Fields(value), " "); value != "" {
			s = append(s, declaration{name, value})
		}
	}
	return s
}

func uncommented(text string) string {
	before, rest, found := strings.Cut(text, "/*")
	if !found {
		return text
	}
	var b strings.Builder
	for found {
		b.WriteString(before)
		_, rest, _ = strings.Cut(rest, "*/")
		before, rest, found = strings.Cut(rest, "/*")
	}
	return b.String() + before
}

// unescaped undoes the escapes of CSS: \6e, or a backslash before a sign.
func unescaped(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		end := i + 1
		for end < len(text) && end < i+7 && strings.IndexByte("0123456789abcdefABCDEF", text[end]) >= 0 {
			end++
		}
		if end == i+1 {
			continue // the sign itself
		}
		n, _ := strconv.ParseUint(text[i+1:end], 16, 32)
		b.WriteRune(rune(n))
		if end < len(text) && strings.IndexByte(" \t\n", text[end]) >= 0 {
			end++
		}
		i = end - 1
	}
	return b.String()
}

// all returns the values of some names.
func (s style) all(names ...string) (values []string) {
	for _, d := range s {
		for _, name := range names {
			if d.name == name {
				values = append(values, d.value)
			}
		}
	}
	return values
}

// sizes returns the sizes of the font.
func (s style) sizes() []string {
	sizes := s.all("font-size")
	for _, font := range s.all("font") {
		for part := range strings.FieldsSeq(font) {
			size, _, lined := strings.Cut(part, "/")
			if _, unit, ok := length(size); ok && (lined || unit != "" || strings.Trim(size, "0.") == "") {
				sizes = append(sizes, size)
				break
			}
		}
	}
	return sizes
}

// fades reports whether an element is transparent.
func (s style) fades() bool {
	for _, d := range s {
		value := d.value
		if d.name == "filter" {
			_, rest, found := strings.Cut(value, "opacity(")
			if !found {
				continue
			}
			value = rest
		} else if d.name != "opacity" {
			continue
		}
		n, unit, ok := number(value)
		if strings.HasPrefix(unit, "%") {
			n /= 100
		}
		if ok && n <= 0.05 {
			return true
		}
	}
	return false
}

// far is how many pixels outside of the page a text cannot be seen, to the left or above. To the right and below,
// pages are long.
const (
	far     = -500
	farther = 5000
)

// hides reports whether a style hides an element and all in it.
func (s style) hides() bool {
	clips, thin := false, false
	for _, d := range s {
		value := d.value
		px, unit, isLength := length(value)
		switch d.name {
		case "display":
			if value == "none" {
				return true
			}
		case "content-visibility":
			if value == "hidden" {
				return true
			}
		case "zoom", "scale":
			if n, _, ok := number(value); ok && n <= 0.05 {
				return true
			}
		case "left", "right", "bottom", "text-indent", "margin-left", "margin-right":
			if isLength && (px <= far || px >= farther && unit != "%") {
				return true
			}
		case "top", "margin-top":
			if isLength && px <= far {
				return true
			}
		case "clip":
			if inner, ok := strings.CutPrefix(value, "rect("); ok {
				if n := pixels(inner); len(n) == 4 && (n[1]-n[3] <= 1 || n[2]-n[0] <= 1) {
					return true
				}
			}
		case "clip-path", "-webkit-clip-path":
			if clipped(value) {
				return true
			}
		case "transform", "-webkit-transform", "translate":
			if moved(d.name == "translate", value) {
				return true
			}
		case "overflow", "overflow-x", "overflow-y":
			clips = clips || strings.HasPrefix(value, "hidden") || strings.HasPrefix(value, "clip")
		case "width", "height", "max-width", "max-height":
			thin = thin || isLength && (px <= 1 && unit == "px" || px == 0)
		}
	}
	return clips && thin
}

// clipped reports whether a shape leaves nothing of an element.
func clipped(value string) bool {
	shape, inner, _ := strings.Cut(value, "(")
	switch inner, _, _ = strings.Cut(inner, ")"); shape {
	case "circle", "ellipse":
		n, _, ok := number(inner)
		return ok && n <= 1
	case "inset":
		for part := range strings.FieldsSeq(inner) {
			if n, unit, ok := number(part); ok && unit == "%" && n >= 50 {
				return true
			}
		}
	case "polygon":
		first, _, _ := strings.Cut(inner, ",")
		for point := range strings.SplitSeq(inner, ",") {
			if strings.TrimSpace(point) != strings.TrimSpace(first) {
				return false
			}
		}
		return true
	}
	return false
}

// moved reports whether a transformation moves an element away, or leaves nothing of it.
func moved(whole bool, value string) bool {
	if whole {
		value = "translate(" + value + ")"
	}
	for call := range strings.SplitSeq(value, ")") {
		name, inner, _ := strings.Cut(strings.TrimSpace(call), "(")
		list := pixels(inner)
		if len(list) == 0 {
			continue
		}
		switch {
		case strings.HasPrefix(name, "translate"):
			for i, n := range list {
				if n <= far || n >= farther && i == 0 && name != "translatey" {
					return true
				}
			}
		case strings.HasPrefix(name, "scale"), strings.HasPrefix(name, "matrix"):
			if n := list[0]; n > -0.05 && n < 0.05 {
				return true
			}
		}
	}
	return false
}

// pixels returns the lengths in a list, and nil if one is none.
func pixels(list string) (out []float64) {
	for part := range strings.FieldsFuncSeq(strings.TrimSuffix(list, ")"), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, _, ok := length(part)
		if !ok {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// length returns a length in pixels, about, and its unit.
func length(value string) (float64, string, bool) {
	n, unit, ok := number(value)
	switch unit {
	case "em", "rem", "ch", "ex":
		n *= 16
	case "pt":
		n *= 4.0 / 3
	case "cm":
		n *= 38
	case "in":
		n *= 96
	case "mm":
		n *= 3.8
	case "vw", "vh":
		n *= 5
	case "%":
		n *= 2.5
	case "", "px":
	default:
		return 0, "", false
	}
	return n, unit, ok
}

// number reads the number at the beginning of a value such as 0px or .5em, and what is behind it.
func number(value string) (float64, string, bool) {
	end := strings.IndexFunc(value, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != '-' && r != '+' })
	unit := ""
	if end >= 0 {
		value, unit = value[:end], value[end:]
	}
	n, err := strconv.ParseFloat(value, 64)
	return n, strings.TrimSpace(strings.TrimRight(unit, ") ")), err == nil
}

// sameColour reports whether two colours can hardly be told apart. Pictures and gradients are no colours.
func sameColour(a, b string) bool {
	x, y := colour(a), colour(b)
	if x == y {
		return x != "" && x != unknownColour
	}
	m, err1 := strconv.ParseUint(x, 16, 32)
	n, err2 := strconv.ParseUint(y, 16, 32)
	if err1 != nil || err2 != nil || len(x) != 6 || len(y) != 6 {
		return false
	}
	for range 3 {
		if d := int(m&255) - int(n&255); d > 8 || d < -8 {
			return false
		}
		m, n = m>>8, n>>8
	}
	return true
}

const (
	unknownColour = "unknown"
	noColour      = "transparent"
)

func clear(c string) bool { return colour(c) == noColour }

// colour returns a colour as six hexadecimal digits, as its name, or noColour.
func colour(value string) string {
	value = strings.ToLower(strings.TrimSpace(value))
	switch value {
	case "white":
		return "ffffff"
	case "black", "initial":
		return "000000"
	case "none", "inherit", "unset", "revert", "currentcolor":
		return ""
	}
	if name, inner, ok := strings.Cut(value, "("); ok {
		parts := strings.FieldsFunc(strings.TrimSuffix(inner, ")"), func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
		if len(parts) == 4 {
			if n, unit, ok := number(parts[3]); ok && (n <= 0.05 || unit == "%" && n <= 5) {
				return noColour
			}
		}
		if len(parts) < 3 || name != "rgb" && name != "rgba" {
			return unknownColour
		}
		out := ""
		for _, part := range parts[:3] {
			n, unit, ok := number(part)
			if unit == "%" {
				n *= 2.55
			}
			if !ok || n < 0 || n > 255 {
				return unknownColour
			}
			out += string("0123456789abcdef"[int(n)>>4]) + string("0123456789abcdef"[int(n)&15])
		}
		return out
	}
	hex, ok := strings.CutPrefix(value, "#")
	if !ok || strings.Trim(hex, "0123456789abcdef") != "" {
		return value // a name
	}
	if len(hex) == 3 || len(hex) == 4 {
		long := ""
		for _, c := range hex {
			long += string(c) + string(c)
		}
		hex = long
	}
	if len(hex) == 8 {
		if hex[6:] <= "0c" {
			return noColour
		}
		hex = hex[:6]
	}
	return hex
}
