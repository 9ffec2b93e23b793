package mount_test

import (
	"testing"

	"hermes/internal/sandbox/mount"
)

func TestProgramsRunInTheNewRoot(t *testing.T) {
	t.Parallel()
	o := build(t, job{
		Root:    mount.Root{Read: system(t)},
		Scripts: []string{"id -u && ls / && ls /dev /run && cat /proc/mounts && ps 2>/dev/null; ls -la /proc/1/root/ /proc/1/"},
	})
	t.Logf("%s %+v", o.Took, o)
	t.Log(o.Runs[0].Out)
}
