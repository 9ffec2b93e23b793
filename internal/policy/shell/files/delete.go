package files

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Remove judges rm. Options may come after the names.
func Remove(l *track.Line, rest []string) {
	recursive := getopt.HasShort(rest, "rR") || getopt.HasLong(rest, "--recursive")
	if slices.Contains(rest, "--no-preserve-root") {
		l.Refuse("delete-root", "disables the protection of the root folder")
	}
	for _, target := range getopt.PlainWords(rest) {
		if strings.Contains(target, lex.FromInput[1:]) || strings.Contains(target, lex.Several[1:]) {
			l.Ask("xargs-delete", "deletes files that are only known at run time")
		}
		if recursive && l.DestroysVital(target) || strings.Contains(target, lex.FromVital[1:]) {
			l.Refuse("delete-root", track.DeletesRoot)
		}
		if p, ok := l.Absolute(target); ok && track.OfSystem(p) {
			l.Ask("delete-system-file", "deletes a system file")
		}
		l.Replace(target)
	}
	if recursive {
		l.Ask("recursive-delete", "deletes files recursively")
	}
}

// Shred judges unlink and shred.
func Shred(l *track.Line, name string, rest []string) {
	for _, target := range getopt.PlainWords(rest) {
		l.Write(target)
	}
	if name == "shred" {
		l.Ask("shred", "overwrites files so that they cannot be recovered")
	}
}

// RemoveWindows judges the delete verbs of cmd and PowerShell.
func RemoveWindows(l *track.Line, name string, rest []string) {
	recursive := false
	for _, a := range rest {
		low := strings.ToLower(a)
		recursive = recursive || low == "/s" || low == "/q" || low == "/f" ||
			strings.HasPrefix(low, "-r") && strings.HasPrefix("-recurse", low) || name != "rmdir" && low == "-force"
	}
	if !recursive {
		return
	}
	l.Ask("recursive-delete", "deletes files recursively")
	for _, target := range getopt.PlainWords(rest) {
		if l.DestroysVital(target) {
			l.Refuse("delete-root", track.DeletesRoot)
		}
	}
}

// destroysFound refuses to delete everything below a vital folder.
func destroysFound(l *track.Line, root string, narrowed bool) {
	if !narrowed && l.DestroysVital(root) {
		l.Refuse("delete-root", track.DeletesRoot)
	}
}

// deletesListed refuses commands that delete what is listed from a vital folder.
func deletesListed(l *track.Line, command []string, roots []string) {
	if !program.DestroysFiles(command) {
		return
	}
	for _, root := range roots {
		destroysFound(l, root, false)
	}
}

// FromInput judges commands whose arguments come from unseen input.
func FromInput(l *track.Line, command []string, in track.Input) {
	if program.ChangesFiles(command) {
		l.Ask("xargs-delete", "deletes the files named by its input")
	}
	deletesListed(l, command, in.Roots)
}
