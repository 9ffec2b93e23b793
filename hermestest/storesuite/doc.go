// Package storesuite has the contract suites of what a store keeps: [Run] for
// sessions and their transcripts, and one for each of ledger, learnings,
// recollections and summaries. Each takes a constructor of the implementation.
// Start with store.go.
package storesuite
