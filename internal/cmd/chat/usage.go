package chat

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	"hermes"
	"hermes/internal/app"
)

// usageReport is the content of --usage-file. The cost is null if the price of
// a call is unknown, the service tier if none was asked for.
type usageReport struct {
	EstimatedCost *float64 `json:"estimated_cost_usd"`
	Input         int64    `json:"input_tokens"`
	Output        int64    `json:"output_tokens"`
	CacheRead     int64    `json:"cache_read_tokens"`
	CacheWrite    int64    `json:"cache_write_tokens"`
	Reasoning     int64    `json:"reasoning_tokens"`
	Total         int64    `json:"total_tokens"`
	Calls         int64    `json:"api_calls"`
	Model         string   `json:"model"`
	Provider      string   `json:"provider"`
	Session       string   `json:"session_id"`
	ServiceTier   *string  `json:"service_tier"`
	Completed     bool     `json:"completed"`
	Failed        bool     `json:"failed"`
	Error         string   `json:"error,omitempty"`
}

// costOf is the cost of a turn in US dollars; nil if unknown.
func costOf(ctx context.Context, a *app.App, session string, turn int64) *float64 {
	g, err := a.Spend()
	if err != nil {
		return nil
	}
	cost, known := g.TurnCost(ctx, session, turn)
	if !known {
		return nil
	}
	return new(cost.Dollars())
}

// report writes the usage file if --usage-file is set, even if the run failed.
func (o *Options) report(a answer, err error) error {
	if o.UsageFile == "" {
		return nil
	}
	u := a.done.Usage
	r := usageReport{
		EstimatedCost: a.cost,
		Input:         u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Reasoning: u.Reasoning,
		Total: u.Total(), Calls: u.Calls, Session: a.session, Completed: err == nil && a.done.Outcome == hermes.OutcomeDone, Failed: err != nil,
	}
	r.Provider, r.Model, _ = strings.Cut(a.model, ":")
	if a.tier != "" {
		r.ServiceTier = &a.tier
	}
	if err != nil {
		r.Error = err.Error()
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.UsageFile, append(raw, '\n'), 0o600)
}
