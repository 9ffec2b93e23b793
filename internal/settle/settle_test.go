package settle_test

import (
	"errors"
	"strings"
	"testing"

	"hermes/internal/settle"
)

// TestSettle has judges, named by letters, that replace one value by another; ! is a guard, and ? is
// concerned by "x" only.
func TestSettle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		judges, shown, want, last string
	}{
		"nothing changes":                {"a:- b:-", "a b", "1", ""},
		"a guard sees what changed":      {"a!:- b:1>2", "a b a", "2", ""},
		"what rewrites does so once":     {"a:1>2 b:2>1", "a b", "1", ""},
		"guards that never agree":        {"a!:1>2 b!:2>1", "a b a b a b", "", "a!"},
		"who is not concerned delays no": {"c?:- a!:1>2,3>4 b!:2>3,4>5", "a b a b a", "5", ""},
	} {
		value, shown := "1", []string(nil)
		var judges []settle.Judge
		for word := range strings.FieldsSeq(tt.judges) {
			label, rules, _ := strings.Cut(word, ":")
			j := settle.Judge{Name: label, Guard: strings.HasSuffix(label, "!"), Show: func() bool {
				shown = append(shown, label[:1])
				for rule := range strings.SplitSeq(rules, ",") {
					if from, to, ok := strings.Cut(rule, ">"); ok && from == value {
						value = to
						break
					}
				}
				return false
			}}
			if strings.HasSuffix(label, "?") {
				j.Concerned = func() bool { return value == "x" }
			}
			judges = append(judges, j)
		}
		ended, err := settle.Settle(func() string { return value }, judges)
		last := ""
		if e, ok := errors.AsType[*settle.UnsettledError](err); ok {
			last = e.Last
		}
		if got := strings.Join(shown, " "); ended || got != tt.shown || last != tt.last || tt.want != "" && value != tt.want {
			t.Errorf("%s: shown %q, value %s, last %q", name, got, value, last)
		}
	}
	ended, err := settle.Settle(func() string { return "" }, []settle.Judge{{Show: func() bool { return true }}, {Show: func() bool { t.Error("shown after the end"); return false }}})
	if !ended || err != nil {
		t.Error(ended, err)
	}
}
