package app_test

import (
	"testing"
	"time"
)

// eventually tries again until there is no error. After a time it fails the test with the last one.
func eventually(t *testing.T, within time.Duration, try func() error) {
	t.Helper()
	for late := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
	}
}
