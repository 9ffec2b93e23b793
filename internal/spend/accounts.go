package spend

import (
	"context"
	"strconv"
	"time"

	"hermes"
)

// memory is what a governor remembers about a session.
type memory struct {
	scope hermes.Scope
	turn  int64 // the newest seen
}

// remember returns the memory of a session. On first use it looks up what the
// session belongs to. The caller holds no lock.
func (g *Governor) remember(ctx context.Context, session string) *memory {
	g.mu.Lock()
	m, known := g.sessions.Get(session)
	g.mu.Unlock()
	if known {
		return m
	}
	m = &memory{}
	if g.cfg.Scope != nil {
		scope, err := g.cfg.Scope(ctx, session)
		if err != nil {
			g.cfg.Log.Warn("look up what a session belongs to", "session", session, "err", err)
			return m
		}
		m.scope = scope
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sessions.Make(session, func() *memory { return m })
}

// limits returns the accounts that a request is charged to, narrowest first,
// each with its cap.
func (g *Governor) limits(ctx context.Context, r *hermes.Request) []hermes.Limit {
	list := make([]hermes.Limit, 0, 6)
	var own hermes.Money // the bound of the run
	add := func(kind hermes.AccountKind, name string) {
		limit := hermes.Limit{Account: hermes.Account{Kind: kind, Name: name}, Cap: g.cfg.Caps[kind]}
		if kind == hermes.AccountTree && own > 0 && (limit.Cap.Money == 0 || own < limit.Cap.Money) {
			limit.Cap.Money = own
		}
		list = append(list, limit)
	}
	scope := r.Scope
	if r.Session != "" {
		known := g.remember(ctx, r.Session)
		if scope.Tree == "" {
			scope.Tree = known.scope.Tree
		}
		if scope.Job == "" {
			scope.Job = known.scope.Job
		}
		if turn := g.turn(r, known); turn > 0 {
			add(hermes.AccountTurn, turnName(r.Session, turn))
		}
		add(hermes.AccountSession, r.Session)
		if scope.Tree == "" {
			scope.Tree = r.Session
		}
		for _, b := range g.branches(r.Session, scope.Tree) {
			list = append(list, hermes.Limit{Account: hermes.Account{Kind: hermes.AccountBranch, Name: b.session}, Cap: hermes.Amount{Money: b.most}})
		}
		own = g.bound(scope.Tree)
		add(hermes.AccountTree, scope.Tree)
	}
	if scope.Job != "" {
		add(hermes.AccountJob, scope.Job)
	}
	day, month := g.windows(g.cfg.Now())
	add(hermes.AccountDay, day)
	add(hermes.AccountMonth, month)
	return list
}

// turn returns the turn that a request belongs to: the one of its scope, else of
// its newest message, else the newest turn of the session. 0 is unknown.
func (g *Governor) turn(r *hermes.Request, m *memory) int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	if turn := r.Scope.Turn; turn > 0 {
		m.turn = max(m.turn, turn) // side calls may come when the next turn already runs
		return turn
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Turn > 0 {
		m.turn = r.Messages[n-1].Turn
	}
	return m.turn
}

// bound is what a session and its children may cost in total; 0 is no bound.
type bound struct {
	most   hermes.Money
	parent string // of a child session
}

// Bound limits what a session and its children may cost in total, beside the caps and for its
// side tasks too, until it is forgotten; 0 sets no bound. parent is the session that started a child.
func (g *Governor) Bound(session, parent string, most hermes.Money) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if most <= 0 && parent == "" {
		delete(g.bounds, session)
		return
	}
	g.bounds[session] = bound{max(most, 0), parent}
}

// Forget forgets the bound of a session that has ended.
func (g *Governor) Forget(session string) { g.Bound(session, "", 0) }

// bound returns the bound of a session; 0 is none.
func (g *Governor) bound(session string) hermes.Money {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bounds[session].most
}

// branch is a child session with a bound.
type branch struct {
	session string
	most    hermes.Money
}

// branches returns the child sessions with bounds that a session belongs to: itself and those above it,
// below the root of its tree.
func (g *Governor) branches(session, root string) (list []branch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range maxDepth {
		b, known := g.bounds[session]
		if !known || session == root {
			break
		}
		if b.most > 0 {
			list = append(list, branch{session, b.most})
		}
		session = b.parent
	}
	return list
}

func turnName(session string, turn int64) string {
	return session + "/" + strconv.FormatInt(turn, 10)
}

// windows returns the names of the day and the month of a time.
func (g *Governor) windows(t time.Time) (day, month string) {
	day = t.In(g.cfg.Location).Format(time.DateOnly)
	return day, day[:len("2006-01")]
}

// ends returns the end of a window; the zero time for accounts without one.
func (g *Governor) ends(kind hermes.AccountKind, t time.Time) time.Time {
	t = t.In(g.cfg.Location)
	switch kind {
	case hermes.AccountDay:
		return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, g.cfg.Location)
	case hermes.AccountMonth:
		return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, g.cfg.Location)
	}
	return time.Time{}
}
