// Package ioerr says in plain words what failed below the os package, for people
// who know no system calls. It reads errors and does nothing else.
//
// Start at Text.
package ioerr

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
	"syscall"
)

// Text is the text of an error in which what the os package says of files is put
// into plain words: "open /x: no such file or directory" becomes "there is no
// /x". It is "" for nil.
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

// Advice is what the person can do about it, "" where nothing is known.
func Advice(err error) string {
	switch {
	case err == nil:
		return ""
	case Full(err):
		return "Make room on that disk, then try again."
	case ReadOnly(err):
		return "Make it writable, or set HERMES_HOME to a folder that can be written."
	case errors.Is(err, fs.ErrPermission):
		for _, e := range chain(err) {
			if p, ok := e.(*fs.PathError); ok {
				return "Look at its owner and mode: ls -ld " + p.Path
			}
		}
		if errors.Is(err, syscall.EACCES) {
			return "Look at the owner and mode of the file and its folder with ls -ld; `hermes doctor` looks at the home."
		}
	}
	return ""
}

// Full reports that there is no room on a disk, or none for this person.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// ReadOnly reports that a disk takes no changes.
func ReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// about says what is wrong with a file.
func about(path, op string, err error) string {
	switch {
	case Full(err):
		return "the disk of " + path + " is full"
	case ReadOnly(err):
		return path + " lies on a disk that is read-only"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no " + path
	case errors.Is(err, fs.ErrExist):
		return path + " is there already"
	case errors.Is(err, syscall.EISDIR):
		return path + " is a folder"
	case errors.Is(err, syscall.ENOTDIR):
		return "a part of " + path + " is a file and no folder"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "the name " + shortened(path) + " is too long"
	case errors.Is(err, fs.ErrPermission) && reads(op):
		return "you may not read " + path
	case errors.Is(err, fs.ErrPermission):
		return "you may not change " + path
	}
	return path + ": " + err.Error()
}

// unreached says why a service could not be asked. What is no fault of the
// network says itself what is wrong.
func unreached(e *url.Error) string {
	host := e.URL
	if u, err := url.Parse(e.URL); err == nil && u.Host != "" {
		host = u.Host
	}
	var lookup *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(e, &lookup) && lookup.IsNotFound:
		return "the address of " + host + " was not found; is the network there?"
	case errors.As(e, &lookup):
		return "the address of " + host + " could not be looked up; is the network there?"
	case errors.Is(e, syscall.ECONNREFUSED):
		return "nothing answers at " + host
	case errors.Is(e, syscall.ENETUNREACH), errors.Is(e, syscall.EHOSTUNREACH):
		return host + " cannot be reached; is the network there?"
	case e.Timeout():
		return host + " did not answer in time"
	case errors.As(e, &op):
		return "the connection to " + host + " failed: " + op.Err.Error()
	}
	return host + ": " + e.Err.Error()
}

// reads reports whether an operation is one that only looks. An open may have
// been for writing: what may be read and not changed says so itself.
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

// chain lists an error and all that it wraps, joined ones too.
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
