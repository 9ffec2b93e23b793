// Package permission keeps what the user has decided for good, in permissions.yaml of a
// home: the list rules, which denies, asks or allows, and the list grants, which answers
// to approvals make. What is changed, also by another process or an editor, holds from
// the next question on.
//
// An entry that cannot be read, or has a field that this version does not know,
// allows nothing and is reported. The package does not know who asks the user or
// how a call is judged.
//
// Start reading at [File] for grants, and at [Policy] for rules.
package permission
