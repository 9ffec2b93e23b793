package skill

import (
	"hermes/internal/policy"
	"hermes/internal/skill/guard"
)

// Scan looks in the files of a skill for what may do harm, also for orders to the
// model.
func Scan(files []guard.File) guard.Report {
	return guard.Scan(files, guard.Options{Injection: policy.Injection, Fold: policy.Fold})
}
