package machine

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// User judges commands that hide what was done, record what the user does, or delete
// what the user would restore.
func User(l *track.Line, name string, rest []string) {
	if hidesTracks(name, rest) {
		l.Ask("log-delete", environ.HidesWhatRan)
	}
	if recordsUser(name, rest) {
		l.Ask("records", "records the screen, a microphone, keys or the network")
	}
	if deletesBackup(name, rest) {
		l.Ask("backup-delete", "deletes backups")
	}
}

func hidesTracks(name string, rest []string) bool {
	words := getopt.PlainWords(rest)
	switch name {
	case "history":
		return getopt.HasShort(rest, "cd")
	case "unset":
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "HIST") })
	case "set":
		return slices.Contains(rest, "+o") && slices.Contains(rest, "history")
	case "clear-history", "remove-eventlog":
		return true
	}
	return false
}

func recordsUser(name string, rest []string) bool {
	switch name {
	case "tcpdump":
		return !getopt.CertainShort(rest, "rDh", "BcCEFGijmMQrsTVwWyzZ") && !getopt.AsksHelp(rest)
	case "tshark", "dumpcap", "ngrep", "tcpflow":
		return !getopt.CertainShort(rest, "rDh", "aAbBcCdeEfFGHijJKlmMnNoOPQrRsSTtuUVwWXyYzZ") && !getopt.AsksHelp(rest)
	case "screencapture", "scrot", "grim", "maim", "gnome-screenshot", "spectacle", "arecord", "parecord", "pw-record", "fswebcam", "imagesnap", "logkeys", "xspy", "showkey":
		return !getopt.HasLong(rest, "--help") && !getopt.HasLong(rest, "--version")
	case "ffmpeg":
		return slices.ContainsFunc(getopt.OptionValues(rest, "-f", "-f"), func(f string) bool {
			return lex.Within("avfoundation x11grab alsa pulse v4l2 kmsgrab gdigrab dshow", f)
		})
	case "xinput":
		return len(rest) > 0 && strings.HasPrefix(rest[0], "test")
	}
	return false
}

func deletesBackup(name string, rest []string) bool {
	words := getopt.PlainWords(rest)
	if getopt.HasShort(rest, "n") || getopt.HasLong(rest, "--dry-run") {
		return false
	}
	verb := func(verbs string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return lex.Within(verbs, w) })
	}
	switch name {
	case "restic":
		return verb("forget prune")
	case "borg":
		return verb("delete prune")
	case "kopia":
		return verb("delete expire") || verb("gc")
	case "duplicity", "duplicacy":
		return verb("remove-all-but-n-full remove-older-than remove-all-inc-of-but-n-full cleanup prune")
	case "rdiff-backup":
		return getopt.HasLong(rest, "--remove-older-than") || verb("remove")
	}
	return false
}
