// Package away does with shell scripts, in another place, what checkpoints need there: it
// lists a file tree, keeps contents as files named in an index by their SHA-256, and does the
// steps of a restore. Contents stay in the place; what travels are lists, the small files of
// the store, and the texts that somebody compares.
//
// The scripts need a POSIX shell (bash, dash, busybox) and the usual tools: find, stat -c,
// cp, sha256sum, base64, readlink. A place that lacks one is ErrUnable. File names may have any
// bytes.
//
// The package knows no snapshots and decides nothing about files. What the place says is
// checked: it is not trusted. Start at place.go, then workspace.go; list.go reads trees and has the
// questions that can be asked while a workspace is opened, content.go keeps contents, apply.go restores.
package away
