// Package hermestest helps to test code that uses the interfaces of package
// hermes. It has a fake for each interface and a contract suite that every
// implementation runs.
//
// A fake passes the suite of its interface: [Script] is a model that plays
// written answers, [Store] a store in memory. A suite is a func whose name
// begins with Run and that takes a constructor, such as [RunEnvironment]. The
// suites of stores are in the folder storesuite, those of model protocols in
// modelsuite. Of this module they import only package hermes, so that tests of other
// modules can use them too. Start with store.go or model.go.
package hermestest
