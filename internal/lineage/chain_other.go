//go:build !linux && !darwin && !windows

package lineage

func look(int) (node, error) { return node{}, errUnsupported }

func (node) homes() []string { return nil }
