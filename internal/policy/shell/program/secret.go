package program

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
)

// PrintsCredentials reports whether a program prints credentials or the
// environment.
func PrintsCredentials(name string, rest []string) bool {
	line := strings.ToLower(strings.Join(rest, " "))
	begins := func(list ...string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(line, p) })
	}
	switch name {
	case "printenv", "env", "set":
		return len(getopt.PlainWords(rest)) == 0
	case "gpg", "gpg2":
		return strings.Contains(line, "--export-secret") || strings.Contains(line, "-d") || strings.Contains(line, "--decrypt")
	case "security":
		return begins("find-", "dump-keychain", "export")
	case "pass", "gopass":
		return !begins("ls", "list", "git", "version", "insert", "generate", "help")
	case "op", "bw", "lpass", "keepassxc-cli", "secret-tool", "keyring", "rbw", "doppler", "chamber", "infisical":
		return begins("read", "item get", "get", "show", "lookup", "document get", "secrets", "export", "list --", "search")
	case "vault":
		return begins("read", "kv get", "print")
	case "sops", "age", "ansible-vault", "openssl":
		return begins("-d", "--decrypt", "decrypt", "view", "exec-env") || strings.Contains(line, " -d ")
	case "gh", "glab":
		return begins("auth token", "auth status -t", "auth status --show-token")
	case "gcloud":
		return begins("auth print-", "auth application-default print", "secrets versions access")
	case "aws":
		return begins("configure get", "configure export-credentials", "secretsmanager get-secret-value", "ssm get-parameter", "sts get-session-token", "sts assume-role", "ecr get-login-password")
	case "az":
		return begins("account get-access-token", "keyvault secret show", "acr credential")
	case "git":
		return begins("credential fill", "credential get", "config --list", "config -l")
	case "docker", "podman":
		return begins("inspect", "container inspect", "compose config", "config inspect")
	case "kubectl", "oc":
		return (strings.Contains(line, "get secret") || strings.Contains(line, "config view --raw") || strings.Contains(line, "create token")) && !begins("diff")
	case "heroku", "fly", "flyctl", "railway", "vercel", "netlify":
		return begins("config", "env", "variables", "auth:token", "auth token", "secrets")
	case "npm":
		return begins("token", "config get //")
	case "history", "compgen", "xclip", "xsel", "pbpaste", "wl-paste", "pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump", "mongoexport":
		return true
	}
	return false
}

// WithoutKeys returns arguments without the values of options with which a client
// uses a key or a settings file rather than sends it, or names what it writes.
func WithoutKeys(name string, rest []string) []string {
	var out []string
	for i := 0; i < len(rest); i++ {
		option, _, joined := strings.Cut(rest[i], "=")
		if lex.Within(keyOptions[name], option) || lex.Within(anyKeyOption, option) {
			if !joined {
				i++
			}
			continue
		}
		out = append(out, rest[i])
	}
	return out
}

const anyKeyOption = "--kubeconfig --env-file --identity --identity-file --config-file --defaults-file --ca-bundle --private-key-file"

var keyOptions = map[string]string{
	"curl": "-E --key --cert --cacert --netrc-file --pubkey --proxy-cert --proxy-key -o --output -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr",
	"wget": "--private-key --certificate --ca-certificate -O --output-document -o --output-file --save-cookies",
	"scp":  "-i -F -o -P -S -J", "sftp": "-i -F -o -P -S -J", "rsync": "-e --rsh --exclude --include --exclude-from --filter --log-file --password-file",
	"http": "--cert --cert-key --verify -o --output --session", "https": "--cert --cert-key --verify -o --output --session", "openssl": "-key -cert -CAfile",
}

// Sender says how a program is told what to send.
type Sender int

// SenderOf returns how a program is told what to send.
func SenderOf(name string, rest []string) Sender {
	words := getopt.PlainWords(rest)
	verb := getopt.At(words, 0)
	switch name {
	case "curl", "wget", "wget2", "curlie", "aria2c", "grpcurl", "websocat", "wscat", "hurl":
		return SendsOptions
	case "http", "https", "xh", "httpie", "mail", "mailx", "s-nail", "mutt", "neomutt", "sendmail", "msmtp", "swaks", "sendemail", "ipfs", "croc", "wormhole", "magic-wormhole", "ffsend", "transfer",
		"gist", "pastebinit", "termbin", "socat", "s3cmd", "s5cmd", "b2", "mc", "gdrive", "megaput", "megacopy", "dropbox_uploader", "onedrive", "ossutil", "slackcat", "telegram-send", "ntfy", "magic",
		"rustypaste", "0x0", "bashupload", "mosquitto_pub", "kcat", "kafkacat", "nats", "restic", "borg", "duplicity", "duplicacy", "kopia", "invoke-webrequest", "invoke-restmethod", "iwr", "irm", "bitsadmin", "certutil",
		"twine", "heroku", "vercel", "netlify", "flyctl", "fly", "railway", "doppler", "wrangler", "supabase", "lp":
		return SendsWords
	case "scp", "pscp", "rsync", "rclone", "svn", "aws", "gsutil", "gcloud", "az", "oci", "doctl", "unison", "kubectl", "oc", "docker", "podman", "gh", "glab", "hub", "tailscale", "hf", "huggingface-cli":
		return senderVerb(name, verb, words, rest)
	case "sftp", "ftp", "lftp", "ncftpput", "tnftp", "tftp", "smbclient", "telnet", "curlftpfs":
		return SendsCommands
	case "ssh", "autossh", "nc", "ncat", "netcat", "dig", "nslookup", "host", "drill", "kdig", "ping", "ping6", "traceroute", "whois", "finger", "logger", "open", "xdg-open", "firefox", "chromium", "slack", "jira", "linear", "claude", "codex", "gemini", "llm", "aider",
		"google-chrome", "lynx", "links", "w3m", "elinks", "mosh", "pwsh", "redis-cli", "wall", "irssi":
		return sendsInput
	case "openssl":
		if verb == "s_client" || slices.Contains(rest, "s_client") {
			return sendsInput
		}
	}
	if IsNetcat(name) {
		return sendsInput
	}
	return NoSender
}

// senderVerb covers tools of which some verbs send.
func senderVerb(name, verb string, words, rest []string) Sender {
	switch name {
	case "scp", "pscp", "rsync", "unison", "rclone":
		return SendsToRemote
	case "kubectl", "oc":
		if slices.Contains(words, "cp") || slices.Contains(words, "create") {
			return SendsWords
		}
	case "docker", "podman":
		if verb == "cp" {
			return SendsToRemote
		}
	case "gh", "glab", "hub":
		if lex.Within("gist release secret variable api issue pr snippet", verb) {
			return SendsWords
		}
	case "svn":
		if verb == "import" {
			return SendsWords
		}
	case "tailscale":
		if verb == "file" {
			return SendsWords
		}
	default:
		if !Fetches(words) && slices.ContainsFunc(words, func(w string) bool { d := getopt.DeedOf(w, ""); return d == getopt.Changes }) {
			return SendsWords
		}
	}
	return NoSender
}

// IsSender reports whether a program sends its input.
func IsSender(name string) bool { return SenderOf(name, nil) != NoSender }

const (
	NoSender      Sender = iota
	sendsInput           // only its input, or text in its arguments
	SendsOptions         // files that options name, as curl does
	SendsWords           // files that its words name
	SendsToRemote        // files that its words name, if the last word is another machine
	SendsCommands        // files that commands in its input or arguments name
)
