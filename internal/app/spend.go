package app

import (
	"context"

	"hermes"
	"hermes/internal/config"
	"hermes/internal/lease"
	"hermes/internal/spend"
)

// Spend returns the governor that meters every model call of this run.
func (a *App) Spend() (*spend.Governor, error) { return a.meter() }

// CheckSpend returns an error, with exit status 2, if a value of the section spend, or of
// approvals.deny, is unknown or invalid. What the user wrote might not hold then, so no turn
// may start and no model may be called.
func (a *App) CheckSpend() error { return a.spendFault() }

func (a *App) findSpendFault() error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if fault := cfg.DenyFault(); fault != nil {
		return &ExitError{Status: 2, Err: fault}
	}
	if a.opts.BaseURL != "" { // this run has its own service, which costs nothing
		return nil
	}
	if fault := cfg.SpendFault(); fault != nil {
		return &ExitError{Status: 2, Err: fault}
	}
	return nil
}

// makeSpend reads the caps. The ledger is opened at the first model call. No model is
// called, not even for a side task, while it is unclear what may be spent.
func (a *App) makeSpend() (*spend.Governor, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	s, prices := cfg.Spend(), a.prices(cfg)
	return spend.New(spend.Config{
		Ledger: func(ctx context.Context) (hermes.Ledger, error) { return a.Database(ctx) }, Fault: a.CheckSpend(),
		Caps: spend.Caps{
			hermes.AccountTurn: s.Turn.Amount(), hermes.AccountSession: s.Session.Amount(),
			hermes.AccountTree: s.Tree.Amount(), hermes.AccountDay: s.Day.Amount(), hermes.AccountMonth: s.Month.Amount(),
		},
		WarnAt: s.Percentages(), Price: prices.Of, Stated: prices.Stated, Longest: prices.Longest, CacheTTL: cfg.PromptCaching().CacheTTL,
		Scope: func(ctx context.Context, session string) (hermes.Scope, error) {
			db, err := a.Database(ctx)
			if err != nil {
				return hermes.Scope{}, err
			}
			return spend.Tree(ctx, db, session)
		},
		Owner: lease.NewName(), Location: cfg.General().Location(), Now: a.opts.Now, Log: a.log(),
	}), nil
}

// prices are those of the settings and the catalogue.
func (a *App) prices(cfg *config.Config) *spend.Prices {
	s := cfg.Spend()
	return spend.NewPrices(s.KnownPrices(), s.FlatRate, a.models.Info)
}
