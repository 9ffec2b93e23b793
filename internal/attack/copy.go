package attack

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"go.yaml.in/yaml/v3"
)

// blank is in the place of a secret in the copy of the settings.
const blank = "blanked-by-hermes-doctor"

// withoutSecrets returns settings in which the values that are secrets, or whose names say that they are,
// are blanked, and which have no comments. So a copy that a killed process leaves gives nothing away.
func withoutSecrets(src []byte, mask func(string) string) []byte {
	var root yaml.Node
	if err := yaml.Unmarshal(src, &root); err != nil {
		return []byte(mask(string(src))) // whoever reads it says what is wrong
	}
	if root.Kind == 0 {
		return nil
	}
	blankIn(&root, "", mask)
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	if err := e.Encode(&root); err != nil {
		return []byte(mask(string(src)))
	}
	_ = e.Close() // a buffer takes everything
	return out.Bytes()
}

// secretName is the name of a setting that has a secret. Its value may have any form.
var secretName = regexp.MustCompile(`(?i)(^|[_-])(api_?keys?|keys?|token|secret|password|passwd|authorization|cookie|credentials?)$`)

func blankIn(n *yaml.Node, name string, mask func(string) string) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			n.Content[i].HeadComment, n.Content[i].LineComment, n.Content[i].FootComment = "", "", ""
			blankIn(n.Content[i+1], n.Content[i].Value, mask)
		}
	case yaml.ScalarNode:
		named := n.Tag == "!!str" && secretName.MatchString(name)
		if n.Value != "" && (named || mask(n.Value) != n.Value || n.Tag == "!!str" && mask(name+": "+n.Value) != name+": "+n.Value) {
			n.Value, n.Tag, n.Style = blank, "!!str", 0
		}
	default:
		for _, below := range n.Content {
			blankIn(below, name, mask)
		}
	}
}

// leftAge is how old the folder of a scene is when the process that made it has gone: a run takes minutes.
const leftAge = time.Hour

var sceneName = regexp.MustCompile(`^hermes-attack-[0-9]+$`)

// sweep removes what killed processes of this user left in the temporary folder. What cannot be
// removed stays until the next time.
func sweep(temp string, now time.Time) {
	entries, err := os.ReadDir(temp)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && sceneName.MatchString(e.Name()) && info.IsDir() && ours(info) && now.Sub(info.ModTime()) > leftAge {
			_ = os.RemoveAll(filepath.Join(temp, e.Name()))
		}
	}
}
