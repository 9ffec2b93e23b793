// Package permission keeps what the user has allowed for good: the list grants in
// permissions.yaml of a home. It reads the file for each question, so that a
// permission that is revoked, also by another process or an editor, ends at once.
//
// An entry that cannot be read, or has a field that this version does not know,
// allows nothing and is reported. The package does not know who asks the user or
// how a call is judged.
//
// Start reading at [File].
package permission
