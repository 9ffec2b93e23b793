package sqlite

import (
	"context"
	"fmt"
	"strings"

	"hermes"
)

const balanceColumns = `SELECT coalesce(sum(money), 0), coalesce(sum(tokens), 0), coalesce(sum(held_money), 0), coalesce(sum(held_tokens), 0),
	coalesce(sum(raised_money), 0), coalesce(sum(raised_tokens), 0), coalesce(sum(calls), 0), coalesce(sum(unpriced), 0), coalesce(max(warned), 0)
	FROM spend_accounts WHERE kind = ? AND name `

// balanceQuery reads the balance of an account. Later days and months also count
// towards an earlier one, so that setting the clock back frees nothing.
func balanceQuery(k hermes.AccountKind) string {
	if k == hermes.AccountDay || k == hermes.AccountMonth {
		return balanceColumns + ">= ?"
	}
	return balanceColumns + "= ?"
}

func balanceFields(b *hermes.Balance, warned *int) []any {
	return []any{&b.Spent.Money, &b.Spent.Tokens, &b.Reserved.Money, &b.Reserved.Tokens, &b.Raised.Money, &b.Raised.Tokens, &b.Calls, &b.Unpriced, warned}
}

// balance reads an account within a write transaction.
func (t *tx) balance(a hermes.Account) (hermes.Balance, int, error) {
	b, warned := hermes.Balance{Account: a}, 0
	err := t.row(balanceQuery(a.Kind), []any{string(a.Kind), a.Name}, balanceFields(&b, &warned)...)
	return b, warned, err
}

// Balances returns the balances of accounts.
func (s *Store) Balances(ctx context.Context, accounts ...hermes.Account) ([]hermes.Balance, error) {
	list := make([]hermes.Balance, len(accounts))
	for i, a := range accounts {
		list[i].Account = a
		var warned int
		err := s.read.QueryRowContext(ctx, balanceQuery(a.Kind), string(a.Kind), a.Name).Scan(balanceFields(&list[i], &warned)...)
		if err != nil {
			return nil, s.cfg.explain(err)
		}
	}
	return list, nil
}

// Spent sums the calls of a period.
func (s *Store) Spent(ctx context.Context, q hermes.SpendQuery) ([]hermes.Spending, error) {
	group := "''"
	switch q.By {
	case "":
	case hermes.SpendByModel, hermes.SpendBySession, hermes.SpendByPurpose, hermes.SpendByDay:
		group = "c." + string(q.By)
	default:
		return nil, fmt.Errorf("cannot sum calls by %q", q.By)
	}
	where, args := []string{"c.at >= ?"}, []any{nanos(q.After)}
	if !q.Before.IsZero() {
		where, args = append(where, "c.at < ?"), append(args, nanos(q.Before))
	}
	if q.Session != "" {
		where, args = append(where, "c.session = ?"), append(args, q.Session)
	}
	if q.Platform != "" {
		where, args = append(where, "c.session IN (SELECT id FROM sessions WHERE source = ?)"), append(args, q.Platform)
	}
	limit := q.Limit
	if limit == 0 {
		limit = 100
	}
	rows, err := s.read.QueryContext(ctx, `SELECT `+group+`, sum(c.input), sum(c.output), sum(c.cache_read), sum(c.cache_write), sum(c.reasoning), sum(c.requests),
		sum(iif(c.state = 1, c.money, 0)), sum(iif(c.state = 0, c.money, 0)), sum(iif(c.state = 0, c.tokens, 0)), count(*), sum(c.unpriced), sum(c.estimated)
		FROM spend c WHERE `+strings.Join(where, " AND ")+` GROUP BY 1 ORDER BY 8 DESC, sum(c.tokens) DESC, 1 LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, s.cfg.explain(err)
	}
	defer rows.Close()
	var list []hermes.Spending
	for rows.Next() {
		var g hermes.Spending
		u := &g.Usage
		if err := rows.Scan(&g.Name, &u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Reasoning, &u.Calls,
			&g.Money, &g.Reserved.Money, &g.Reserved.Tokens, &g.Calls, &g.Unpriced, &g.Estimated); err != nil {
			return nil, s.cfg.explain(err)
		}
		list = append(list, g)
	}
	return list, s.cfg.explain(rows.Err())
}
