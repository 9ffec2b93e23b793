//go:build !linux && !darwin

package file

import "io/fs"

// attributes returns nil: they are not known here.
func (p location) attributes() []attribute { return nil }

// keep does nothing.
func (p location) keep(string, []attribute, fs.FileInfo, fs.FileInfo) []string { return nil }
