// Package sdk is the plugin's side of the protocol of plugins (docs/plugin-protocol.md): a plugin is
// a [Plugin] with functions, and its method Serve answers Hermes until its input ends.
//
// It is one file with nothing but the standard library, sdk.go, because that file is also what
// `hermes plugins create --language go` writes: plugins outside of this repository copy it. The
// plugins that come along with Hermes import it. It knows no plugin, and nothing of Hermes.
package sdk

import (
	_ "embed"
	"strings"
)

//go:embed sdk.go
var source string

// Source returns sdk.go as a file of another package.
func Source(name string) string {
	return strings.Replace(source, "package sdk\n", "package "+name+"\n", 1)
}
