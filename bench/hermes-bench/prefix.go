package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// prefixKept returns how much of each request the next one begins with, in percent of bytes over
// all pairs. It compares tools first, then messages, as services do, whatever their order in the
// JSON object.
func prefixKept(bodies [][]byte) (float64, error) {
	var kept, all int
	var before []json.RawMessage
	for i, body := range bodies {
		var r struct {
			Tools    json.RawMessage
			Messages []json.RawMessage
		}
		if err := json.Unmarshal(body, &r); err != nil {
			return 0, fmt.Errorf("request %d: %w", i+1, err)
		}
		now := append([]json.RawMessage{r.Tools}, r.Messages...)
		same := true
		for j, part := range before {
			all += len(part)
			same = same && j < len(now) && bytes.Equal(part, now[j])
			if same {
				kept += len(part)
			}
		}
		before = now
	}
	if all == 0 {
		return 100, nil
	}
	return 100 * float64(kept) / float64(all), nil
}
