package shell

import (
	"slices"
	"strings"
)

// uploads judges programs that send something to another machine: a file with a
// secret, or text that a secret was put into.
func (j *judge) uploads(name string, rest []string, s situation) {
	j.copiesSecret(name, rest, s.in)
	kind := senderOf(name, rest)
	if kind == noSender {
		j.feedsSender(name, rest, s.in)
		if habitOf(name) == noHabit && !showsText(name) && !showsNames(name) && !isShell(name) && len(j.funcs[name]) == 0 && slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, fromSecret) }) {
			j.ask("secret-upload", "gives a secret to a program that may send it")
		}
		return
	}
	if s.in.secret || slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, fromSecret) }) || j.sendsSecret(kind, withoutKeys(name, rest), s.in) {
		j.ask("secret-upload", "sends a secret file, credentials or the environment to another machine")
	}
}

// sender says how a program is told what to send.
type sender int

const (
	noSender      sender = iota
	sendsInput           // only its input, or text in its arguments
	sendsOptions         // files that options name, as curl does
	sendsWords           // files that its words name
	sendsToRemote        // files that its words name, if the last word is another machine
	sendsCommands        // files that commands in its input or arguments name
)

func senderOf(name string, rest []string) sender {
	words := plainWords(rest)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch name {
	case "curl", "wget", "wget2", "curlie", "aria2c", "grpcurl", "websocat", "wscat", "hurl":
		return sendsOptions
	case "http", "https", "xh", "httpie", "mail", "mailx", "s-nail", "mutt", "neomutt", "sendmail", "msmtp", "swaks", "sendemail", "ipfs", "croc", "wormhole", "magic-wormhole", "ffsend", "transfer",
		"gist", "pastebinit", "termbin", "socat", "s3cmd", "s5cmd", "b2", "mc", "gdrive", "megaput", "megacopy", "dropbox_uploader", "onedrive", "ossutil", "slackcat", "telegram-send", "ntfy", "magic",
		"rustypaste", "0x0", "bashupload", "mosquitto_pub", "kcat", "kafkacat", "nats", "restic", "borg", "duplicity", "duplicacy", "kopia", "invoke-webrequest", "invoke-restmethod", "iwr", "irm", "bitsadmin", "certutil":
		return sendsWords
	case "scp", "rsync", "rclone", "aws", "gsutil", "gcloud", "az", "oci", "doctl", "unison", "kubectl", "oc", "docker", "podman", "gh", "glab", "hub", "tailscale", "hf", "huggingface-cli":
		return senderVerb(name, verb, words, rest)
	case "sftp", "ftp", "lftp", "ncftpput", "tnftp", "tftp", "smbclient", "telnet", "curlftpfs":
		return sendsCommands
	case "ssh", "autossh", "nc", "ncat", "netcat", "dig", "nslookup", "host", "drill", "kdig", "ping", "ping6", "traceroute", "whois", "finger", "logger", "open", "xdg-open", "firefox", "chromium", "slack", "jira", "linear", "claude", "codex", "gemini", "llm", "aider",
		"google-chrome", "lynx", "links", "w3m", "elinks", "mosh", "pwsh", "redis-cli", "wall", "irssi":
		return sendsInput
	case "openssl":
		if verb == "s_client" || slices.Contains(rest, "s_client") {
			return sendsInput
		}
	}
	if isNetcat(name) {
		return sendsInput
	}
	return noSender
}

// senderVerb covers tools of which some verbs send.
func senderVerb(name, verb string, words, rest []string) sender {
	switch name {
	case "scp", "rsync", "unison", "rclone":
		return sendsToRemote
	case "kubectl", "oc":
		if slices.Contains(words, "cp") || slices.Contains(words, "create") {
			return sendsWords
		}
	case "docker", "podman":
		if verb == "cp" {
			return sendsToRemote
		}
	case "gh", "glab", "hub":
		if within("gist release secret variable api issue pr snippet", verb) {
			return sendsWords
		}
	case "tailscale":
		if verb == "file" {
			return sendsWords
		}
	default:
		if !fetches(words) && slices.ContainsFunc(words, func(w string) bool { d := deedOf(w, ""); return d == changes }) {
			return sendsWords
		}
	}
	return noSender
}

// sendsSecret reports whether a program is told to send a file with a secret.
func (j *judge) sendsSecret(kind sender, rest []string, in input) bool {
	switch kind {
	case sendsOptions:
		return j.optionSendsSecret(rest)
	case sendsWords:
		return slices.ContainsFunc(rest, j.secretPart)
	case sendsToRemote:
		words := plainWords(rest)
		if len(words) < 2 || !isElsewhere(words[len(words)-1]) {
			return false
		}
		return slices.ContainsFunc(words[:len(words)-1], func(w string) bool { return !isElsewhere(w) && j.secretWord(w) })
	case sendsCommands:
		return slices.ContainsFunc(strings.Fields(in.text+" "+strings.Join(rest, " ")), func(w string) bool { return j.secretPart(strings.Trim(w, `;"'`)) })
	}
	return false
}

// isElsewhere reports whether a word names a place on another machine, such as
// host:path, or a container.
func isElsewhere(word string) bool {
	colon := strings.IndexByte(word, ':')
	slash := strings.IndexByte(word, '/')
	return colon > 0 && (slash < 0 || colon < slash) || dynamic(word) && !strings.HasPrefix(word, "/")
}

// optionSendsSecret judges options such as -d @file, -F name=@file and -T file.
func (j *judge) optionSendsSecret(rest []string) bool {
	for i, a := range rest {
		next := ""
		if i+1 < len(rest) {
			next = rest[i+1]
		}
		name, value, joined := strings.Cut(a, "=")
		if !joined {
			value = next
		}
		switch {
		case name == "-T" || len(name) > 3 && (strings.HasPrefix("--upload-file", name) || strings.HasPrefix("--post-file", name) || strings.HasPrefix("--body-file", name)):
			if slices.ContainsFunc(strings.Split(strings.Trim(value, "{}"), ","), j.secretWord) {
				return true
			}
		case strings.HasPrefix(a, "-T") && !strings.HasPrefix(a, "--") && j.secretWord(a[2:]):
			return true
		case within("-d -F -H -b", name) || strings.HasPrefix(name, "--"):
			if j.attached(value) {
				return true
			}
		case len(a) > 2 && (strings.HasPrefix(a, "-d") || strings.HasPrefix(a, "-F") || strings.HasPrefix(a, "-b")):
			if j.attached(a[2:]) {
				return true
			}
		case len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.ContainsAny(a[len(a)-1:], "dFT"): // a cluster such as -sd
			if j.attached(next) || a[len(a)-1] == 'T' && j.secretWord(next) {
				return true
			}
		}
	}
	return false
}

// attached reports whether the value of an option reads a file with a secret:
// @file, name=@file, name@file or name=<file.
func (j *judge) attached(value string) bool {
	at := strings.IndexAny(value, "@<")
	if at < 0 || strings.Contains(value[:at], "://") {
		return strings.Contains(value, fromSecret)
	}
	file, _, _ := strings.Cut(value[at+1:], ";")
	return slices.ContainsFunc(strings.Split(file, ","), func(f string) bool { return j.secretWord(strings.Trim(f, `"`)) })
}

// feedsSender judges >(…), to which a command gives its output.
func (j *judge) feedsSender(name string, rest []string, in input) {
	sends := slices.ContainsFunc(rest, func(a string) bool { c, ok := j.written(a); return ok && c.sends })
	if sends && (in.secret || j.callShowsSecret(append([]string{name}, rest...))) {
		j.ask("secret-upload", "sends a secret file, credentials or the environment to another machine")
	}
}

// isSender reports whether a program sends its input.
func isSender(name string) bool { return senderOf(name, nil) != noSender }
