package sqlite

import (
	"context"
	"database/sql"
	"sync"
)

// maxBatch limits the jobs of one transaction, and the queue before it.
const maxBatch = 128

// job is a write that waits for its transaction. Its run may be called more than once
// if the whole transaction fails.
type job struct {
	ctx  context.Context
	run  func(*tx) error
	done chan error // one error, nil once it is committed
}

// writer owns the connection for writes. Writes that arrive during a transaction are
// combined into the next one.
type writer struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
	jobs  chan *job
	ended chan struct{}

	mu     sync.RWMutex // held for reading while a job is handed over
	closed bool
}

func newWriter(conn *sql.Conn) *writer {
	w := &writer{
		conn:  conn,
		stmts: map[string]*sql.Stmt{},
		jobs:  make(chan *job, maxBatch),
		ended: make(chan struct{}),
	}
	go w.loop() // ends in close
	return w
}

// do runs the func in a transaction and returns when it is committed. The
// func must use the database only through its tx.
func (w *writer) do(ctx context.Context, run func(*tx) error) error {
	j := &job{ctx: ctx, run: run, done: make(chan error, 1)}
	if err := w.hand(j); err != nil {
		return err
	}
	return <-j.done
}

func (w *writer) hand(j *job) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.jobs <- j:
		return nil
	case <-j.ctx.Done():
		return j.ctx.Err()
	}
}

// close waits for the queued writes and releases the connection.
func (w *writer) close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	close(w.jobs)
	w.mu.Unlock()
	<-w.ended
	for _, s := range w.stmts {
		s.Close()
	}
	return w.conn.Close()
}

func (w *writer) loop() {
	defer close(w.ended)
	for first := range w.jobs {
		w.answer(w.gather(first))
	}
}

func (w *writer) gather(first *job) []*job {
	batch := []*job{first}
	for len(batch) < maxBatch {
		select {
		case j, open := <-w.jobs:
			if !open {
				return batch
			}
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// answer writes the batch in one transaction. If the whole transaction fails, each job
// gets its own, so that no job fails because of another.
func (w *writer) answer(batch []*job) {
	results, err := w.commit(batch)
	if err == nil {
		for i, j := range batch {
			j.done <- results[i]
		}
		return
	}
	if len(batch) == 1 {
		batch[0].done <- err
		return
	}
	for _, j := range batch {
		w.answer([]*job{j})
	}
}

// commit returns one result for each job, or the error that rolled all of them back.
func (w *writer) commit(batch []*job) ([]error, error) {
	t := &tx{w: w}
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	results := make([]error, len(batch))
	for i, j := range batch {
		results[i] = t.inSavepoint(j)
		if results[i] != nil && breaksBatch(results[i]) {
			t.rollback()
			return nil, results[i]
		}
	}
	if err := t.exec("COMMIT"); err != nil {
		t.rollback()
		return nil, err
	}
	return results, nil
}

// tx is the current transaction. It is valid until its job's func returns.
type tx struct{ w *writer }

func (t *tx) inSavepoint(j *job) error {
	if err := j.ctx.Err(); err != nil {
		return err
	}
	if err := t.exec("SAVEPOINT job"); err != nil {
		return err
	}
	err := j.run(t)
	if err != nil && breaksBatch(err) {
		return err
	}
	if err != nil {
		if undo := t.exec("ROLLBACK TO job"); undo != nil {
			return undo
		}
	}
	if release := t.exec("RELEASE job"); release != nil {
		return release
	}
	return err
}

// rollback ends a transaction that SQLite may have ended by itself.
func (t *tx) rollback() {
	// A rollback without a transaction returns an error, which can be ignored.
	_, _ = t.w.conn.ExecContext(context.Background(), "ROLLBACK")
}

// stmt prepares a statement once for the life of the connection.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s := t.w.stmts[query]; s != nil {
		return s, nil
	}
	s, err := t.w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	t.w.stmts[query] = s
	return s, nil
}

// exec runs one of a fixed set of statements. A caller's context does not
// cancel it, because the batch has other jobs too.
func (t *tx) exec(query string, args ...any) error {
	_, err := t.result(query, args...)
	return err
}

func (t *tx) result(query string, args ...any) (sql.Result, error) {
	s, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.Background(), args...)
}

// row scans the only row of a query; sql.ErrNoRows if there is none.
func (t *tx) row(query string, args []any, into ...any) error {
	s, err := t.stmt(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(into...)
}
