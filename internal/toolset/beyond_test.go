package toolset_test

import (
	"strings"
	"testing"

	"hermes"
	"hermes/internal/toolset"
)

// TestBeyondCountsWhatIsDeferredAndWhatComesLater: a session that only lists the same tools may still get more.
func TestBeyondCountsWhatIsDeferredAndWhatComesLater(t *testing.T) {
	t.Parallel()
	sets := []hermes.Toolset{
		&group{name: "file", tools: described("read_file")}, &group{name: "learning", tools: described("learning")},
		&group{name: "messaging", tools: described("send_message"), why: "no platform is connected"}, newServer("x", "a"), search(),
	}
	catalogue := toolset.NewCatalogue(sets, nil, nil)
	for _, tt := range []struct {
		run, other toolset.Selection
		want       string
	}{
		{toolset.Selection{}, toolset.Selection{}, ""},
		{toolset.Selection{DeferAbove: 1}, toolset.Selection{}, ""},
		{toolset.Selection{Enabled: []string{"file", "mcp-x"}}, toolset.Selection{}, ""},
		{toolset.Selection{Enabled: []string{"file", "learning"}}, toolset.Selection{Enabled: []string{"file"}}, "learning"},
		{toolset.Selection{Enabled: []string{"file", "x"}, DeferAbove: 1}, toolset.Selection{Enabled: []string{"file"}}, "a mcp-x"},
		{toolset.Selection{Enabled: []string{"file", "messaging"}}, toolset.Selection{Enabled: []string{"file"}}, "send_message"},
		{toolset.Selection{Enabled: []string{"file", "mcp-y"}}, toolset.Selection{Enabled: []string{"file"}}, "mcp-y"},
		{toolset.Selection{Enabled: []string{"file"}}, toolset.Selection{Enabled: []string{"file"}, Disabled: []string{"y"}}, ""},
		{toolset.Selection{}, toolset.Selection{Disabled: []string{"y"}}, "y"},
		{toolset.Selection{Disabled: []string{"y"}}, toolset.Selection{Disabled: []string{"y"}}, ""},
		{toolset.Selection{Enabled: []string{"all"}}, toolset.Selection{Enabled: []string{"file", "learning", "messaging", "x"}}, "toolsets that come later"},
	} {
		set, err := catalogue.Select(t.Context(), tt.run)
		if err != nil {
			t.Fatal(err)
		}
		other, err := catalogue.Select(t.Context(), tt.other)
		if err != nil {
			t.Fatal(err)
		}
		calls := func(tool string) bool { _, ok := other.Find(tool); return ok }
		got := strings.Join(set.Beyond(other, calls), " ")
		if tt.want == "toolsets that come later" { // and all tools of the table
			if !strings.Contains(got, tt.want) {
				t.Errorf("%+v beyond %+v: %q, want %q", tt.run, tt.other, got, tt.want)
			}
			continue
		}
		if got != tt.want {
			t.Errorf("%+v beyond %+v: %q, want %q", tt.run, tt.other, got, tt.want)
		}
	}
}

// TestWithoutASearchNothingOfHermesIsDeferred: it would be lost.
func TestWithoutASearchNothingOfHermesIsDeferred(t *testing.T) {
	t.Parallel()
	sets := []hermes.Toolset{&group{name: "file", tools: described("read_file")}, &group{name: "learning", tools: described("learning")}, search()}
	for disabled, want := range map[string]string{"": "read_file tool_call tool_search", "tool_search": "learning read_file", "terminal": "read_file tool_call tool_search"} {
		set := mustSelect(t, sets, toolset.Selection{Disabled: []string{disabled}})
		if got := strings.Join(listed(set), " "); got != want {
			t.Errorf("without %q: %q, want %q", disabled, got, want)
		}
	}
}
