//go:build !slow

package confine_test

// slowTasks says whether tasks run that take long.
const slowTasks = false
