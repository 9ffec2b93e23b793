// Package hermestest helps to test code that uses the interfaces of package
// hermes. It has a fake for each interface and a contract suite that every
// implementation runs.
//
// A fake passes the suite of its interface: [Script] is a model that plays
// written answers, [Store] a store in memory. A suite is a func whose name
// begins with Run and that takes a constructor: [RunStore], [RunEnvironment].
// The package imports only package hermes, so that tests of other modules can
// use it too. Start with store.go or model.go.
package hermestest
