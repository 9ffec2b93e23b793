package prefixwatch

import (
	"bytes"
	"fmt"
	"slices"

	"hermes"
)

// compare finds the first part of a request that the next request changed.
// Messages added or removed at the end are not a break.
func compare(before, now *hermes.Request) (hermes.PrefixBreak, bool) {
	if !slices.EqualFunc(before.Tools, now.Tools, sameTool) {
		return toolBreak(before, now), true
	}
	if before.System != now.System {
		from, to := difference(before.System, now.System)
		return sized(before, hermes.PrefixBreak{Section: "system prompt", From: from, To: to}, toolsLength(before)+from), true
	}
	for i := range min(len(before.Messages), len(now.Messages)) {
		if sameMessage(&before.Messages[i], &now.Messages[i]) {
			continue
		}
		old, text := flat(&before.Messages[i]), flat(&now.Messages[i])
		from, to := difference(old, text)
		kept := toolsLength(before) + len(before.System) + from
		for j := range i {
			kept += len(flat(&before.Messages[j]))
		}
		b := hermes.PrefixBreak{Section: fmt.Sprintf("message %d (%s)", i+1, kind(now.Messages[i].Role)), From: from, To: to}
		return sized(before, b, kept), true
	}
	return hermes.PrefixBreak{}, false
}

func toolBreak(before, now *hermes.Request) hermes.PrefixBreak {
	kept := 0
	for i, t := range before.Tools {
		if i < len(now.Tools) && sameTool(t, now.Tools[i]) {
			kept += len(flatTool(t))
			continue
		}
		if i >= len(now.Tools) {
			return sized(before, hermes.PrefixBreak{Section: "tool " + t.Name + " (removed)"}, kept)
		}
		from, to := difference(flatTool(t), flatTool(now.Tools[i]))
		return sized(before, hermes.PrefixBreak{Section: "tool " + now.Tools[i].Name, From: from, To: to}, kept+from)
	}
	added := now.Tools[len(before.Tools)]
	return sized(before, hermes.PrefixBreak{Section: "tool " + added.Name, To: len(flatTool(added))}, kept)
}

// sized sets how much of the request before was kept and lost.
func sized(before *hermes.Request, b hermes.PrefixBreak, kept int) hermes.PrefixBreak {
	b.Kept = kept
	b.Lost = max(0, length(before)-kept)
	return b
}

// difference returns where two texts begin to differ, and where in the new one
// their common end begins.
func difference(before, now string) (from, to int) {
	n := min(len(before), len(now))
	for from < n && before[from] == now[from] {
		from++
	}
	same := 0
	for same < n-from && before[len(before)-1-same] == now[len(now)-1-same] {
		same++
	}
	return from, len(now) - same
}

// sameMessage compares what is sent of two messages. It does not read parts at
// the same address, which is the usual case in a session.
func sameMessage(a, b *hermes.Message) bool {
	if a.Role != b.Role || a.CallID != b.CallID || a.ToolName != b.ToolName || a.Failed != b.Failed ||
		len(a.Parts) != len(b.Parts) || len(a.Calls) != len(b.Calls) || len(a.Reasoning) != len(b.Reasoning) {
		return false
	}
	for i := range a.Parts {
		if p, q := &a.Parts[i], &b.Parts[i]; p != q && (p.Text != q.Text || !sameImage(p.Image, q.Image)) {
			return false
		}
	}
	for i := range a.Calls {
		if p, q := &a.Calls[i], &b.Calls[i]; p != q && *p != *q {
			return false
		}
	}
	for i := range a.Reasoning {
		if p, q := &a.Reasoning[i], &b.Reasoning[i]; p != q && *p != *q {
			return false
		}
	}
	return true
}

func sameImage(a, b *hermes.Image) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return a.URL == b.URL && a.MediaType == b.MediaType && bytes.Equal(a.Data, b.Data)
}

func sameTool(a, b hermes.Spec) bool {
	return a.Name == b.Name && a.Description == b.Description && bytes.Equal(a.Schema, b.Schema)
}
