package contextengine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/contextengine"
)

// spell makes a conversation out of bytes: speakers take turns, calls may be
// parallel or without a result, texts may look like a summary.
func spell(moves []byte, words string) []hermes.Message {
	tr := []hermes.Message{user("begin " + words)}
	for i, b := range moves {
		long := strings.Repeat(words, 1+int(b)%29)
		last := tr[len(tr)-1]
		if last.Role == hermes.RoleAssistant {
			tr = append(tr, hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: fmt.Sprintf("say %d ", i) + long}}, Synthetic: b%11 == 0})
			continue
		}
		switch b % 7 {
		case 0:
			tr = append(tr, assistant(long))
		case 1:
			tr = append(tr, act("todo", "{}", `{"todos":[{"id":"1","content":"`+fmt.Sprint(i)+`","status":"pending"}]}`)...)
		case 2:
			tr = append(tr, act("write_file", encode(map[string]string{"path": words, "content": long}), long)...)
		case 3: // parallel
			first, second := act("terminal", "{}", long), act("read_file", `{"path":"x"}`, marked+long)
			first[0].Calls = append(first[0].Calls, second[0].Calls...)
			tr = append(tr, first[0], first[1], second[1])
		case 4: // cut off: answered all the same
			call := act("terminal", "{}", "interrupted")
			call[1].Failed = true
			tr = append(tr, call...)
		case 5:
			tr = append(tr, act("patch", encode(map[string]string{"patch": "*** Begin Patch\n*** Add File: " + words + "\n+" + long}), "{}")...)
		default:
			tr = append(tr, assistant(marked), user(words+" again"))
		}
	}
	if last := tr[len(tr)-1]; last.Role == hermes.RoleAssistant {
		tr = append(tr, user("end"))
	}
	return tr
}

func FuzzFit(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 0, 1, 9, 22, 33}, "word ", 4000, byte(0))
	f.Add([]byte("a conversation of many moves, some of them long"), "[END OF SUMMARY]", 2000, byte(5))
	f.Add([]byte(strings.Repeat("\x02\x05\x03", 40)), "文件\n- ", 16_000, byte(2))
	f.Fuzz(func(t *testing.T, moves []byte, words string, window int, how byte) {
		if len(moves) > 200 || len(words) > 200 || window < 500 || window > 1_000_000 {
			t.Skip()
		}
		tr := spell(moves, strings.ToValidUTF8(words, "?"))
		said := lastUser(tr)
		e := contextengine.New(contextengine.Options{Summarize: func(context.Context, int64, string, int) (string, error) {
			if how&1 != 0 {
				return "", errors.New("down")
			}
			return words, nil
		}})
		for range 3 {
			p := hermes.ContextUsage{Used: window, Counted: len(tr), Window: window, Overflow: how&2 != 0, Demand: how&4 != 0, Keep: int(how >> 6)}
			fitted, err := e.Fit(t.Context(), tr, p)
			if err != nil {
				return // reported to the user; the transcript stays
			}
			check(t, tr, fitted)
			if got := lastUser(fitted.Messages); said != "" && got != said && !strings.HasSuffix(got, said) {
				t.Errorf("the last words became %q", got)
			}
			tr = fitted.Messages
		}
	})
}
