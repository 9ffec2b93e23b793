package proc

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// endOfInput ends the input on a console: Ctrl+Z.
const endOfInput = 26

// group is a job object. The system ends its members when the last handle is
// closed, so that they end with this process.
type group struct {
	job    windows.Handle // 0 if no job could be created: then only the child is known
	leader *os.Process
}

// exited is only needed on systems that may reuse an id at once.
func exited(int) bool { return false }

// outlives is not needed on Windows, which has no guard.
func (g *group) outlives() bool { return false }

func configure(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP,
	}
}

// newGroup puts a started child into a job. Processes that it starts in the
// microseconds before are not in the job.
func newGroup(p *os.Process) *group {
	g := &group{leader: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = assign(job, p.Pid)
	}
	if err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

func assign(job windows.Handle, pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(job, h)
}

// signal sends Ctrl+Break to members that share our console, or ends the job if
// force is set.
func (g *group) signal(force bool) {
	if !force {
		_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.leader.Pid))
		return
	}
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
	_ = g.leader.Kill()
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	_               [4]int64
	_, _            uint32
	ActiveProcesses uint32
	_               uint32
}

// leftover reports whether the job still has members after its first one ended.
func (g *group) leftover() bool {
	if g.job == 0 {
		return false
	}
	const basicAccounting = 1
	var a accounting
	err := windows.QueryInformationJobObject(g.job, basicAccounting,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return err == nil && a.ActiveProcesses > 0
}

func (g *group) close() {
	if g.job != 0 {
		windows.CloseHandle(g.job)
		g.job = 0
	}
}

func exitCode(s *os.ProcessState) int {
	if s == nil {
		return -1
	}
	return s.ExitCode()
}

func confine(_ int, l Limits) error {
	if l == (Limits{}) {
		return nil
	}
	return errors.New("limits for child processes are supported on Linux only")
}

func isBrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}
