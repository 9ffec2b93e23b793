// Package hermestest helps to test what is built on the vocabulary: fakes of
// its seams and, for each seam, the suite of promises that every
// implementation runs.
//
// A fake keeps the promises of its seam and runs the same suite: [Script] is a
// model that plays written answers, [Store] a store in memory. A suite is a
// func whose name begins with Run and that takes a constructor: [RunStore],
// [RunEnvironment]. The package imports the vocabulary alone, so that tests
// outside this module can use it too. Start with store.go or model.go.
package hermestest
