package shell

import (
	"slices"
	"strings"
)

// user judges commands that hide what was done, record what the user does, or delete
// what the user would restore.
func (j *judge) user(name string, rest []string) {
	if hidesTracks(name, rest) {
		j.ask("log-delete", hidesWhatRan)
	}
	if recordsUser(name, rest) {
		j.ask("records", "records the screen, a microphone, keys or the network")
	}
	if deletesBackup(name, rest) {
		j.ask("backup-delete", "deletes backups")
	}
}

const hidesWhatRan = "deletes or stops the record of the lines that ran"

func hidesTracks(name string, rest []string) bool {
	words := plainWords(rest)
	switch name {
	case "history":
		return hasShort(rest, "cd")
	case "unset":
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "HIST") })
	case "set":
		return slices.Contains(rest, "+o") && slices.Contains(rest, "history")
	case "clear-history", "remove-eventlog":
		return true
	}
	return false
}

// historyVariable judges variables with which a shell stops to record its lines.
func (j *judge) historyVariable(name, value string) {
	switch name {
	case "HISTFILE":
		if value == "" || value == "/dev/null" {
			j.ask("log-delete", hidesWhatRan)
		}
	case "HISTSIZE", "HISTFILESIZE", "SAVEHIST":
		if value == "0" || value == "" {
			j.ask("log-delete", hidesWhatRan)
		}
	}
}

func recordsUser(name string, rest []string) bool {
	switch name {
	case "tcpdump":
		return !certainShort(rest, "rDh", "BcCEFGijmMQrsTVwWyzZ") && !asksHelp(rest)
	case "tshark", "dumpcap", "ngrep", "tcpflow":
		return !certainShort(rest, "rDh", "aAbBcCdeEfFGHijJKlmMnNoOPQrRsSTtuUVwWXyYzZ") && !asksHelp(rest)
	case "screencapture", "scrot", "grim", "maim", "gnome-screenshot", "spectacle", "arecord", "parecord", "pw-record", "fswebcam", "imagesnap", "logkeys", "xspy", "showkey":
		return !hasLong(rest, "--help") && !hasLong(rest, "--version")
	case "ffmpeg":
		return slices.ContainsFunc(optionValues(rest, "-f", "-f"), func(f string) bool {
			return within("avfoundation x11grab alsa pulse v4l2 kmsgrab gdigrab dshow", f)
		})
	case "xinput":
		return len(rest) > 0 && strings.HasPrefix(rest[0], "test")
	}
	return false
}

func deletesBackup(name string, rest []string) bool {
	words := plainWords(rest)
	if hasShort(rest, "n") || hasLong(rest, "--dry-run") {
		return false
	}
	verb := func(verbs string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return within(verbs, w) })
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
		return hasLong(rest, "--remove-older-than") || verb("remove")
	}
	return false
}
