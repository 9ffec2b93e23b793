package browser

import (
	"net/url"
	"strconv"
	"strings"
)

// plainRole is the name of a role that people know.
func plainRole(role string, editable bool) string {
	switch role {
	case "DisclosureTriangle", "PopUpButton":
		return "button"
	case "Date", "DateTime", "InputTime", "ColorWell":
		return strings.ToLower(strings.TrimPrefix(role, "Input"))
	case "Section", "generic", "none", "presentation", "paragraph", "":
		if editable {
			return "textbox"
		}
		return "clickable"
	}
	return role
}

// states writes what a person sees of the state of a node.
func (o *outline) states(n *axNode, role string) string {
	s := ""
	if v := clean(n.Value.text(), maxName); v != "" && role != "link" && role != "heading" && role != "listitem" {
		s += " value=" + quoted(v)
	}
	for i := range n.Properties {
		name, v := n.Properties[i].Name, n.Properties[i].Value.text()
		switch name {
		case "level":
			if role == "heading" {
				s += " level=" + v
			}
		case "checked", "pressed":
			if v != "" && v != "false" || name == "checked" {
				s += state3(name, v)
			}
		case "expanded":
			if v == "false" {
				s += " collapsed"
			} else if v == "true" {
				s += " expanded"
			}
		case "disabled", "required", "focused", "readonly", "modal", "busy", "multiselectable":
			if v == "true" && role != "RootWebArea" {
				s += " " + name
			}
		case "selected":
			if v == "true" {
				s += " selected"
			}
		case "invalid":
			if v != "" && v != "false" {
				s += " invalid"
			}
		case "url":
			if role == "link" {
				s += " url=" + quoted(o.short(v))
			}
		}
	}
	return s
}

func state3(name, v string) string {
	switch v {
	case "true":
		return " " + name
	case "mixed":
		return " " + name + "=mixed"
	}
	return " un" + name
}

// maxLink bounds the address of a link, in runes.
const maxLink = 100

// short writes an address as it is seen from the page.
func (o *outline) short(address string) string {
	if u, err := url.Parse(address); err == nil && o.base != nil && u.Host == o.base.Host && u.Scheme == o.base.Scheme {
		u.Scheme, u.Host, u.User = "", "", nil
		address = u.String()
	}
	if strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "javascript:") {
		address, _, _ = strings.Cut(address, ",")
	}
	return strings.ReplaceAll(clean(address, maxLink), " ", "%20")
}

// optionsOf lists the options of a select. whole is false if something else is in it.
func optionsOf(t *axTree, n *axNode) (text string, whole bool) {
	var all []string
	whole = true
	var walk func(n *axNode, depth int)
	walk = func(n *axNode, depth int) {
		for _, id := range n.ChildIDs {
			c := t.node(id)
			if c == nil || depth > maxDepth {
				continue
			}
			switch role := c.Role.text(); {
			case role == "option":
				name := quoted(clean(c.Name.text(), 80))
				if c.property("selected") == "true" {
					name = "*" + name
				}
				all = append(all, name)
			case c.Ignored || role == "MenuListPopup" || role == "group" || role == "generic" || role == "none":
				walk(c, depth+1)
			case role != "StaticText" && role != "InlineTextBox":
				whole = false
			}
		}
	}
	walk(n, 0)
	if !whole || n.Role.text() == "listbox" && n.property("focusable") != "true" {
		return "", false
	}
	if len(all) == 0 {
		return "", true
	}
	more := ""
	if len(all) > maxOptions {
		all, more = all[:maxOptions], " | and "+strconv.Itoa(len(all)-maxOptions)+" more"
	}
	return " options: " + strings.Join(all, " | ") + more, true
}
