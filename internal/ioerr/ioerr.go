// Package ioerr describes errors of files and networks in plain words, for users
// who do not know system calls. It only reads errors; it does no I/O and does not
// know what the files are for.
//
// Start at Text.
package ioerr

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// Text returns the text of an error with file and network errors in plain words:
// "open /x: no such file or directory" becomes "there is no /x". It is "" for nil.
func Text(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	for _, e := range chain(err) {
		switch e := e.(type) {
		case *fs.PathError:
			text = strings.ReplaceAll(text, e.Error(), about(e.Path, e.Op, e.Err))
		case *os.LinkError:
			text = strings.ReplaceAll(text, e.Error(), about(e.New, e.Op, e.Err))
		case *url.Error:
			text = strings.ReplaceAll(text, e.Error(), unreached(e))
		case *os.SyscallError:
			text = strings.ReplaceAll(text, e.Error(), e.Err.Error())
		}
	}
	return text
}

// Advice returns what the user can do about an error, "" if nothing is known.
func Advice(err error) string {
	switch {
	case err == nil:
		return ""
	case Full(err):
		return "Free some space on that disk, then try again."
	case ReadOnly(err):
		return "Make it writable, or set HERMES_HOME to a writable folder."
	case errors.Is(err, fs.ErrPermission):
		for _, e := range chain(err) {
			if p, ok := e.(*fs.PathError); ok {
				return "Check its owner and mode: ls -ld " + p.Path
			}
		}
		if errors.Is(err, syscall.EACCES) {
			return "Check the owner and mode of the file and its folder with `ls -ld`; `hermes doctor` checks the home folder."
		}
	}
	return ""
}

// Full reports whether the disk or the user's quota is full.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// ReadOnly reports whether a disk is read-only.
func ReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// PipeClosed reports whether nothing reads the other end of a pipe any more.
func PipeClosed(err error) bool {
	if runtime.GOOS != "windows" {
		return errors.Is(err, syscall.EPIPE)
	}
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // winerror.h
	return errors.Is(err, brokenPipe) || errors.Is(err, noData)
}

// about says what is wrong with a file.
func about(path, op string, err error) string {
	switch {
	case Full(err):
		return "the disk of " + path + " is full"
	case ReadOnly(err):
		return path + " is on a read-only disk"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no " + path
	case errors.Is(err, fs.ErrExist):
		return path + " already exists"
	case errors.Is(err, syscall.EISDIR):
		return path + " is a folder"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of " + path + " is a file, not a folder"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "the name " + shortened(path) + " is too long"
	case errors.Is(err, fs.ErrPermission) && reads(op):
		return "no permission to read " + path
	case errors.Is(err, fs.ErrPermission):
		return "no permission to change " + path
	}
	return path + ": " + err.Error()
}

// unreached says why a service could not be reached. Other errors already describe
// themselves.
func unreached(e *url.Error) string {
	host := e.URL
	if u, err := url.Parse(e.URL); err == nil && u.Host != "" {
		host = u.Host
	}
	var lookup *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(e, &lookup) && lookup.IsNotFound:
		return "the address of " + host + " was not found; check the network"
	case errors.As(e, &lookup):
		return "the address of " + host + " could not be looked up; check the network"
	case errors.Is(e, syscall.ECONNREFUSED):
		return "nothing answers at " + host
	case errors.Is(e, syscall.ENETUNREACH), errors.Is(e, syscall.EHOSTUNREACH):
		return host + " cannot be reached; check the network"
	case e.Timeout():
		return host + " did not answer in time"
	case errors.As(e, &op):
		return "the connection to " + host + " failed: " + op.Err.Error()
	}
	return host + ": " + e.Err.Error()
}

// reads reports whether an operation only reads. An open may have been for writing.
func reads(op string) bool {
	switch op {
	case "open", "read", "stat", "lstat", "readdirent", "fstatat", "chdir", "openat", "statat":
		return true
	}
	return false
}

// shortened keeps both ends of a name.
func shortened(name string) string {
	runes := []rune(name)
	if len(runes) <= 60 {
		return name
	}
	return string(runes[:30]) + "…" + string(runes[len(runes)-20:])
}

// chain lists an error and all errors that it wraps or joins.
func chain(err error) []error {
	all := []error{err}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if next := e.Unwrap(); next != nil {
			all = append(all, chain(next)...)
		}
	case interface{ Unwrap() []error }:
		for _, next := range e.Unwrap() {
			all = append(all, chain(next)...)
		}
	}
	return all
}
