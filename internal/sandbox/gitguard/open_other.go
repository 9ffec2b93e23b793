//go:build !unix

package gitguard

const waitless, folderOnly = 0, 0
