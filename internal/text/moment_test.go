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

func TestAge(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]string{
		-time.Hour: "0 s", 59*time.Second + 999*time.Millisecond: "59 s", time.Minute: "1 min", time.Hour - 1: "59 min", 90 * time.Minute: "1.5 h", 50 * time.Hour: "50.0 h",
	} {
		if got := text.Age(in); got != want {
			t.Errorf("%v is %q, want %q", in, got, want)
		}
	}
}
