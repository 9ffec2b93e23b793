package environment

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"hermes/internal/shellstate"
)

// maxArgument is the longest command line passed as an argument, since Linux
// refuses arguments of 128 KiB and more. Longer lines go through a file.
const maxArgument = 100 << 10

// keepScript runs the line $1 and writes the exported variables to $2, also
// when the line ends the shell by exit or set -e.
//
//go:embed keep.sh
var keepScript string

//go:embed keep.ps1
var keepPowerShell string

// shell is the program that runs command lines.
type shell struct {
	path  string
	power bool     // a PowerShell instead of a POSIX shell
	first []string // arguments before the -c
}

// findShell returns the given program, or bash, or the default of the system.
func findShell(given string, first ...string) (shell, error) {
	if given != "" {
		path, err := exec.LookPath(given)
		if err != nil {
			return shell{}, fmt.Errorf("cannot run the configured shell %s: %w", given, err)
		}
		return shell{path: path, power: isPowerShell(path), first: first}, nil
	}
	if runtime.GOOS == "windows" {
		return findWindowsShell()
	}
	for _, path := range []string{"/bin/bash", "/usr/bin/bash"} {
		if isProgram(path) {
			return shell{path: path}, nil
		}
	}
	if path, err := exec.LookPath("bash"); err == nil {
		return shell{path: path}, nil
	}
	if isProgram("/bin/sh") {
		return shell{path: "/bin/sh"}, nil
	}
	return shell{}, errors.New("no shell found: neither bash nor /bin/sh exists on this machine")
}

// findWindowsShell skips the bash in the Windows folder: it starts the Linux
// subsystem, which has other files and may not be set up.
func findWindowsShell() (shell, error) {
	if path, err := exec.LookPath("bash.exe"); err == nil && !inWindowsFolder(path) {
		return shell{path: path}, nil
	}
	for _, name := range []string{"pwsh.exe", "powershell.exe"} {
		if path, err := exec.LookPath(name); err == nil {
			return shell{path: path, power: true}, nil
		}
	}
	return shell{}, errors.New("no shell found: install Git for Windows or PowerShell")
}

func inWindowsFolder(path string) bool {
	path = strings.ToLower(path)
	return strings.Contains(path, `\system32\`) || strings.Contains(path, `\sysnative\`) || strings.Contains(path, `\windowsapps\`)
}

func isPowerShell(path string) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
	return name == "pwsh" || name == "powershell"
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// tooLong hands a line that is too long for an argument to the shell as a file, and
// returns the line that runs it.
func (l *Local) tooLong(sh shell, line string) (string, *handed, error) {
	file, err := l.hand(lineAt)
	if err != nil {
		return "", nil, err
	}
	if err := file.write(line); err != nil {
		file.close()
		return "", nil, fmt.Errorf("store the command: %w", err)
	}
	if sh.power {
		return ". ([ScriptBlock]::Create([IO.File]::ReadAllText(" + shellstate.Quote(file.name) + ")))", file, nil
	}
	return ". " + shellstate.Quote(file.name), file, nil
}

// args returns the shell's arguments for a line. The shell writes its state to
// the file state, if not empty.
func args(sh shell, line, state string) []string {
	switch {
	case sh.power && state == "":
		return []string{"-NoProfile", "-NonInteractive", "-Command", line}
	case sh.power:
		script := "$__hermesFile = " + shellstate.Quote(state) + "\n" + strings.Replace(keepPowerShell, "LINE", line, 1)
		return []string{"-NoProfile", "-NonInteractive", "-Command", script}
	case state == "":
		return append(slices.Clip(sh.first), "-c", line)
	}
	return append(slices.Clip(sh.first), "-c", keepScript, filepath.Base(sh.path), line, state)
}
