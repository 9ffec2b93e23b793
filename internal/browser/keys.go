package browser

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// key is a key as the protocol names it.
type key struct {
	name string // key of the event
	code string
	vk   int    // its number on Windows, which pages read as keyCode
	text string // what it types
}

// namedKeys are keys that type nothing or have a name.
var namedKeys = map[string]key{
	"enter": {"Enter", "Enter", 13, "\r"}, "tab": {"Tab", "Tab", 9, ""}, "escape": {"Escape", "Escape", 27, ""},
	"backspace": {"Backspace", "Backspace", 8, ""}, "delete": {"Delete", "Delete", 46, ""}, "space": {" ", "Space", 32, " "},
	"arrowup": {"ArrowUp", "ArrowUp", 38, ""}, "arrowdown": {"ArrowDown", "ArrowDown", 40, ""},
	"arrowleft": {"ArrowLeft", "ArrowLeft", 37, ""}, "arrowright": {"ArrowRight", "ArrowRight", 39, ""},
	"home": {"Home", "Home", 36, ""}, "end": {"End", "End", 35, ""}, "pageup": {"PageUp", "PageUp", 33, ""},
	"pagedown": {"PageDown", "PageDown", 34, ""}, "insert": {"Insert", "Insert", 45, ""},
	"f1": {"F1", "F1", 112, ""}, "f2": {"F2", "F2", 113, ""}, "f3": {"F3", "F3", 114, ""}, "f4": {"F4", "F4", 115, ""},
	"f5": {"F5", "F5", 116, ""}, "f6": {"F6", "F6", 117, ""}, "f7": {"F7", "F7", 118, ""}, "f8": {"F8", "F8", 119, ""},
	"f9": {"F9", "F9", 120, ""}, "f10": {"F10", "F10", 121, ""}, "f11": {"F11", "F11", 122, ""}, "f12": {"F12", "F12", 123, ""},
}

var otherNames = map[string]string{"return": "enter", "esc": "escape", "del": "delete", "up": "arrowup", "down": "arrowdown",
	"left": "arrowleft", "right": "arrowright", " ": "space"}

// modifiers are keys that are held, with their bit in the protocol.
var modifiers = map[string]int{"alt": 1, "option": 1, "control": 2, "ctrl": 2, "meta": 4, "cmd": 4, "command": 4, "shift": 8}

// keyOf reads a key such as Enter, a or Control+Shift+T.
func keyOf(s string) (k key, held int, err error) {
	parts := strings.Split(s, "+")
	if strings.HasSuffix(s, "++") || s == "+" { // the key + itself
		parts = append(strings.Split(strings.TrimSuffix(strings.TrimSuffix(s, "+"), "+"), "+"), "+")
	}
	last := parts[len(parts)-1]
	for _, m := range parts[:len(parts)-1] {
		bit, ok := modifiers[strings.ToLower(strings.TrimSpace(m))]
		if !ok && m != "" {
			return key{}, 0, fmt.Errorf("%q is no key to hold: use Control, Alt, Shift or Meta", clean(m, 20))
		}
		held |= bit
	}
	name := strings.ToLower(last)
	if len(last) > 1 {
		name = strings.TrimSpace(name)
	}
	if other, ok := otherNames[name]; ok {
		name = other
	}
	if k, ok := namedKeys[name]; ok {
		return k, held, nil
	}
	if utf8.RuneCountInString(last) != 1 {
		return key{}, 0, fmt.Errorf("%q is no key: use one character, Control+A, or one of %s", clean(last, 20),
			strings.Join(slices.Sorted(maps.Keys(namedKeys)), ", "))
	}
	return character([]rune(last)[0]), held, nil
}

// character is the key that types a character.
func character(r rune) key {
	k := key{name: string(r), text: string(r)}
	switch {
	case r == '\n' || r == '\r':
		return namedKeys["enter"]
	case r == '\t':
		return namedKeys["tab"]
	case unicode.IsLetter(r) && r < 128:
		k.code, k.vk = "Key"+string(unicode.ToUpper(r)), int(unicode.ToUpper(r))
	case unicode.IsDigit(r) && r < 128:
		k.code, k.vk = "Digit"+string(r), int(r)
	case r == ' ':
		k.code, k.vk = "Space", 32
	}
	return k
}

// Writes reports whether a key puts text into a field: its character, or what is on the clipboard.
// Enter does not; what it sends was put there before.
func Writes(name string) bool {
	k, held, err := keyOf(name)
	if err != nil {
		return false // it is not pressed
	}
	return k.text != "" && k.text != "\r" && held&^8 == 0 || held&6 != 0 && strings.EqualFold(k.name, "v") || held&8 != 0 && k.name == "Insert"
}

// Press presses a key such as Enter, Escape, a or Control+A.
func (p *Page) Press(ctx context.Context, name string) (Outcome, error) {
	if _, _, err := keyOf(name); err != nil {
		return Outcome{}, err
	}
	p.acting.Lock()
	defer p.acting.Unlock()
	return p.act(ctx, func(ctx context.Context) error { return p.press(ctx, name) })
}

func (p *Page) press(ctx context.Context, name string) error {
	k, held, err := keyOf(name)
	if err != nil {
		return err
	}
	down, up := k.events(held)
	if err := p.call(ctx, p.main, "Input.dispatchKeyEvent", down, nil); err != nil {
		return err
	}
	return p.call(ctx, p.main, "Input.dispatchKeyEvent", up, nil)
}

func (k key) events(held int) (down, up fields) {
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		down, up = up, fields{"type": kind, "key": k.name, "code": k.code, "windowsVirtualKeyCode": k.vk, "modifiers": held}
	}
	if k.text != "" && held&^8 == 0 {
		down["type"], down["text"] = "keyDown", k.text
	}
	if held == 2 || held == 4 { // editing keys do nothing by themselves
		if c := editing(k.name); c != "" {
			down["commands"] = []string{c}
		}
	}
	return down, up
}

func editing(key string) string {
	switch strings.ToLower(key) {
	case "a":
		return "selectAll"
	case "c":
		return "copy"
	case "v":
		return "paste"
	case "x":
		return "cut"
	case "y":
		return "redo"
	case "z":
		return "undo"
	}
	return ""
}
