package permission

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hermes"
)

// Who says in which session a call is made. Empty fields are unknown, except that "" as a user is the
// owner of the home, and "" as a chat on a platform of this machine, which has no chats.
type Who struct {
	// Platforms are the session's own, and then those of the sessions above it.
	Platforms  []string
	User       string
	Chat       string // the kind of chat, such as private or group
	Model      string
	Profile    string
	Unattended bool // no user can be asked
}

// when limits an entry to some sessions. All fields must hold, and of a list one value.
type when struct {
	platform, user, chat, model, profile []string
	project                              []string // absolute paths
	unattended                           string   // "true", "false" or "": both
}

// conditions are the fields of when.
const conditions = "platform, user, chat, model, project, profile, unattended"

// readWhen reads the section when of an entry.
func readWhen(node *yaml.Node, home string) (when, error) {
	var w when
	if node.Kind != yaml.MappingNode {
		return w, errors.New("when is not a section with some of " + conditions)
	}
	lists := map[string]*[]string{"platform": &w.platform, "user": &w.user, "chat": &w.chat, "model": &w.model, "profile": &w.profile, "project": &w.project}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], unaliased(node.Content[i+1])
		if name.Kind != yaml.ScalarNode || seen[name.Value] {
			return w, fmt.Errorf("when has the field %q twice", name.Value)
		}
		seen[name.Value] = true
		if name.Value == "unattended" {
			on, err := strconv.ParseBool(value.Value)
			if value.Kind != yaml.ScalarNode || err != nil {
				return w, errors.New("when.unattended is neither true nor false")
			}
			w.unattended = strconv.FormatBool(on)
			continue
		}
		list, known := lists[name.Value]
		if !known {
			return w, fmt.Errorf("when has the unknown field %q; it knows %s", name.Value, conditions)
		}
		values, err := textsOf(value)
		if err != nil {
			return w, fmt.Errorf("when.%s %w", name.Value, err)
		}
		*list = values
	}
	for i, p := range w.project {
		if p == "~" || strings.HasPrefix(p, "~/") {
			p = home + p[1:]
		}
		if !filepath.IsAbs(p) || home == "" && strings.HasPrefix(w.project[i], "~") {
			return w, fmt.Errorf("when.project %q is not a whole path", w.project[i])
		}
		w.project[i] = filepath.Clean(p)
	}
	for i, p := range w.platform {
		if strings.EqualFold(p, "child") {
			w.platform[i] = hermes.PlatformChild
		}
	}
	return w, nil
}

// textsOf reads a text or a list of texts, none of which is empty.
func textsOf(node *yaml.Node) ([]string, error) {
	list := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		list = node.Content
	}
	var texts []string
	for _, n := range list {
		n = unaliased(n)
		if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" || strings.TrimSpace(n.Value) == "" {
			return nil, errors.New("has no value; remove it to set no limit")
		}
		texts = append(texts, n.Value)
	}
	if len(texts) == 0 {
		return nil, errors.New("has no value; remove it to set no limit")
	}
	return texts, nil
}

func unaliased(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// holds reports whether a call is one of those that the section describes. For entries that allow, what
// is unknown does not hold, and only the session's own platform counts; for those that deny or ask, what
// is unknown holds, and so does the platform of any session above: a child is bound as its parent is.
func (w when) holds(c *Call, allows bool) bool {
	who := c.Who
	if w.unattended != "" && w.unattended != strconv.FormatBool(who.Unattended) || !w.fromPlatform(who, allows) || !w.inProject(c, allows) {
		return false
	}
	if len(w.user) > 0 && !anyOf(w.user, who.User) && (who.User != "" || !anyOf(w.user, owner)) {
		return false
	}
	if len(w.chat) > 0 && who.Chat == "" && !who.remote() {
		return false
	}
	for _, field := range []struct {
		wanted []string
		value  string
	}{{w.chat, who.Chat}, {w.model, who.Model}, {w.profile, who.Profile}} {
		unknown := field.value == "" && !allows
		if len(field.wanted) > 0 && !unknown && !anyOf(field.wanted, field.value) {
			return false
		}
	}
	return true
}

func (w when) fromPlatform(who Who, allows bool) bool {
	platforms := who.Platforms
	switch {
	case len(w.platform) == 0:
		return true
	case len(platforms) == 0:
		return !allows
	case allows:
		platforms = platforms[:1]
	}
	return slices.ContainsFunc(platforms, func(p string) bool { return anyOf(w.platform, p) })
}

func (w when) inProject(c *Call, allows bool) bool {
	switch {
	case len(w.project) == 0:
		return true
	case c.Workspace == "":
		return !allows
	}
	return slices.ContainsFunc(w.project, func(p string) bool {
		if strings.ContainsAny(p, "*?[") {
			return folderFits(p, c.Workspace)
		}
		return below(c.follow(p), c.Workspace) || below(p, c.Workspace)
	})
}

// folderFits reports whether a pattern of folders fits a folder or one above it. * matches no slash.
func folderFits(pattern, folder string) bool {
	for {
		if ok, _ := filepath.Match(pattern, folder); ok {
			return true
		}
		above := filepath.Dir(folder)
		if above == folder {
			return false
		}
		folder = above
	}
}

// remote reports whether a session, or one above it, is on a platform that has chats.
func (w Who) remote() bool {
	return slices.ContainsFunc(w.Platforms, func(p string) bool { return !slices.Contains(local[:], p) })
}

// owner names in rules the user of platforms that name none.
const owner = "owner"

// local are the platforms that have no chats.
var local = [...]string{"", "acp", "api", "cli", "cron", "demo", "oneshot", "web", hermes.PlatformChild}

// anyOf reports whether a value is one of those wanted, which may be patterns.
func anyOf(wanted []string, value string) bool {
	return slices.ContainsFunc(wanted, func(glob string) bool { return fnmatch(strings.ToLower(glob), strings.ToLower(value)) })
}
