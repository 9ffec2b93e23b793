package sqlite_test

import (
	"fmt"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

func BenchmarkRecollect(b *testing.B) {
	s, err := sqlite.Open(b.Context(), sqlite.Config{Path: tempPath(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const n = 5000
	var list []hermes.Recollection
	for i := range n {
		v := make([]int8, 256)
		for j := range v {
			v[j] = int8((i*31 + j*17) % 127)
		}
		list = append(list, hermes.Recollection{At: time.Unix(int64(i), 0), Text: fmt.Sprintf("entry %d about topic%d and more words to fill the line", i, i%100), Vector: v})
	}
	if err := s.Remember(b.Context(), 0, list...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Recollect(b.Context(), hermes.RecollectionQuery{Text: "what about topic42", Vector: list[7].Vector}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRepairKeepsWhatWasLearned(t *testing.T) {
	t.Parallel()
	cfg := sqlite.Config{Path: tempPath(t)}
	s, err := sqlite.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SaveLearning(t.Context(), hermes.Learning{Tool: "terminal", Class: "error", Pattern: "a", Fix: "b", Touched: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Remember(t.Context(), 0, hermes.Recollection{Text: "the heron listens", At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Repair(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, cfg)
	if list, err := s.FindLearnings(t.Context(), hermes.LearningQuery{}); err != nil || len(list) != 1 || list[0].Fix != "b" {
		t.Errorf("learnings: %+v, %v", list, err)
	}
	if list, err := s.Recollect(t.Context(), hermes.RecollectionQuery{Text: "heron"}); err != nil || len(list) != 1 {
		t.Errorf("recollections: %+v, %v", list, err)
	}
}
