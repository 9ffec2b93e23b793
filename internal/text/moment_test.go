package text_test

import (
	"testing"
	"time"

	"hermes/internal/text"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("x", 2*3600)
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, zone)
	for in, want := range map[string]time.Time{
		"":                     {},
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, zone),
		"2026-11-01 15:04":     time.Date(2026, 11, 1, 15, 4, 0, 0, zone),
		"2026-11-01T15:04:05Z": time.Date(2026, 11, 1, 15, 4, 5, 0, time.UTC),
		"2026-11-01T15:04":     time.Date(2026, 11, 1, 15, 4, 0, 0, zone),
		"7d":                   now.AddDate(0, 0, -7),
		" 2w ":                 now.AddDate(0, 0, -14),
		"3":                    now.AddDate(0, 0, -3),
		"90min":                now.Add(-90 * time.Minute),
		"1.5h":                 now.Add(-90 * time.Minute),
		"1h30m":                now.Add(-90 * time.Minute),
	} {
		if got, err := text.Moment(in, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v, want %v; %v", in, got, want, err)
		}
	}
	for _, in := range []string{"yesterday", "-3d", "2026-13-01", "d", "1e300d", "NaN", "inf", "999999999w"} {
		if got, err := text.Moment(in, now); err == nil {
			t.Errorf("%q is %v", in, got)
		}
	}
}
