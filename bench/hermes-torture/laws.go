package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/hermestest/faultserver"
)

// lawsOfRequests checks what holds for the requests of one session, in their order: each
// call has exactly one result, directly after it, no prompt is sent twice, and what was
// sent once stays the beginning of each later request.
func lawsOfRequests(requests [][]item) []string {
	var broken []string
	for i, r := range requests {
		if what := paired(r); what != "" {
			broken = append(broken, fmt.Sprintf("request %d: %s", i+1, what))
		}
		seen := map[string]bool{}
		for _, it := range r {
			if mark := markOf(it.text); it.role == "user" && mark != "" {
				if seen[mark] {
					broken = append(broken, fmt.Sprintf("request %d has the prompt %s twice", i+1, mark))
				}
				seen[mark] = true
			}
		}
		if i == 0 {
			continue
		}
		before := requests[i-1]
		for j := range before {
			if j >= len(r) || r[j].raw != before[j].raw {
				broken = append(broken, fmt.Sprintf("request %d does not begin with request %d: message %d differs", i+1, i, j+1))
				break
			}
		}
	}
	return broken
}

// paired returns what is wrong with the calls and results of a request, or nothing.
func paired(all []item) string {
	var open []string
	for _, it := range all {
		if it.role == "result" {
			i := index(open, it.result)
			if i < 0 {
				return fmt.Sprintf("the result of %s has no call, or is the second one", it.result)
			}
			open = append(open[:i:i], open[i+1:]...)
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("the call %s has no result", open[0])
		}
		open = append(open, it.calls...)
	}
	if len(open) > 0 {
		return fmt.Sprintf("the call %s has no result", open[0])
	}
	return ""
}

func index(list []string, s string) int {
	for i := range list {
		if list[i] == s {
			return i
		}
	}
	return -1
}

// markOf returns the mark of an order, or nothing.
func markOf(text string) string {
	_, rest, found := strings.Cut(text, "order: ")
	if !found {
		return ""
	}
	mark, _, _ := strings.Cut(rest, " ")
	return mark
}

// lawsOfStore checks the stored session against the requests that the service saw and the
// orders that were carried out to the end.
func lawsOfStore(s stored, requests [][]item, finished []string) []string {
	var broken []string
	prompts, answers := map[string]int{}, map[string]int{}
	var list []item
	for _, m := range s.messages {
		it := item{role: string(m.Role), text: m.Text()}
		switch m.Role {
		case hermes.RoleUser:
			if mark := markOf(it.text); mark != "" {
				prompts[mark]++
			}
		case hermes.RoleAssistant:
			answers[it.text]++
			for _, c := range m.Calls {
				it.calls = append(it.calls, c.ID)
			}
		case hermes.RoleTool:
			it.role, it.result = "result", m.CallID
		}
		list = append(list, it)
	}
	for mark, n := range prompts {
		if n > 1 {
			broken = append(broken, fmt.Sprintf("the prompt %s is stored %d times", mark, n))
		}
	}
	for _, r := range requests {
		for _, it := range r {
			if mark := markOf(it.text); it.role == "user" && mark != "" && prompts[mark] == 0 {
				broken = append(broken, fmt.Sprintf("the prompt %s was sent and is not stored", mark))
				prompts[mark] = 1 // said once
			}
		}
	}
	for _, mark := range finished {
		if prompts[mark] != 1 || answers[done(mark)] != 1 {
			broken = append(broken, fmt.Sprintf("the finished order %s has %d prompts and %d answers", mark, prompts[mark], answers[done(mark)]))
		}
	}
	return append(broken, lawsOfCalls(list, s.open)...)
}

// lawsOfCalls allows calls without a result only in the journal, where a crash left them.
func lawsOfCalls(list []item, open []hermes.Step) []string {
	results := map[string]int{}
	for _, it := range list {
		if it.result != "" {
			results[it.result]++
		}
	}
	for _, step := range open {
		results[step.Call.ID]++
	}
	var broken []string
	for i, it := range list {
		for _, id := range it.calls {
			if n := results[id]; n > 1 || n == 0 && i < len(list)-1 {
				broken = append(broken, fmt.Sprintf("the call %s has %d results", id, n))
			}
		}
	}
	return broken
}

// lawsOfEffects checks that no command ran twice and that each one whose result says that
// it ran did.
func lawsOfEffects(work string, s stored) []string {
	raw, err := os.ReadFile(filepath.Join(work, "effects.txt"))
	if err != nil && !os.IsNotExist(err) {
		return []string{err.Error()}
	}
	ran := map[string]int{}
	for line := range bytes.Lines(raw) {
		ran[string(bytes.TrimSpace(line))]++
	}
	var broken []string
	for line, n := range ran {
		if n > 1 {
			broken = append(broken, fmt.Sprintf("the command %s ran %d times", line, n))
		}
	}
	for _, m := range s.messages {
		if _, rest, found := strings.Cut(m.Text(), "done-"); m.Role == hermes.RoleTool && found && strings.Contains(rest, ".") {
			line := rest[:strings.Index(rest, ".")+1]
			if ran[line] == 0 {
				broken = append(broken, fmt.Sprintf("the result of %s says that it ran, but it did not", line))
			}
		}
	}
	return broken
}

// lawsOfLedger compares what a session was booked with what the service counted. What a
// killed run had reserved stays an estimate, so the sum may be a little less.
func lawsOfLedger(spent hermes.Spending, served faultserver.Count) []string {
	var broken []string
	booked, counted := spent.Usage.Input+spent.Usage.Output, served.Input+served.Output
	if spent.Calls < int64(served.Requests) {
		broken = append(broken, fmt.Sprintf("%d calls are booked, the service saw %d", spent.Calls, served.Requests))
	}
	if booked > counted {
		broken = append(broken, fmt.Sprintf("%d tokens are booked, the service counted %d", booked, counted))
	}
	if all := booked + spent.Reserved.Tokens; float64(all) < 0.97*float64(counted) {
		broken = append(broken, fmt.Sprintf("%d tokens are booked or reserved, the service counted %d", all, counted))
	}
	return broken
}
