package program

import (
	"slices"
	"strings"
	"sync"

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

// ListsHere reports whether a command prints the names of the files in the folder in which it runs.
func ListsHere(args []string) bool {
	words := getopt.PlainWords(args[1:])
	switch lex.Program(args[0]) {
	case "ls", "dir", "vdir", "tree", "exa", "eza", "lsd", "find", "fd", "fdfind":
		return len(words) == 0
	case "rg":
		return getopt.HasLong(args, "--files")
	case "git", "hg":
		return lex.Within("ls-files files manifest status", getopt.At(words, 0))
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
	if kind, ok := senders()[name]; ok {
		return kind
	}
	words := getopt.PlainWords(rest)
	verb := getopt.At(words, 0)
	switch name {
	case "scp", "pscp", "rsync", "rclone", "svn", "aws", "gsutil", "gcloud", "az", "oci", "doctl", "unison", "kubectl", "oc", "docker", "podman", "gh", "glab", "hub", "tailscale", "hf", "huggingface-cli", "etcdctl", "vault", "consul":
		return senderVerb(name, verb, words, rest)
	case "openssl":
		if slices.Contains(rest, "s_client") || slices.Contains(rest, "s_server") {
			return sendsInput
		}
	case "psql", "mysql", "mariadb", "mongo", "mongosh", "mongoimport", "mongorestore", "mongofiles", "pg_restore", "mysqlimport", "mariadb-import", "clickhouse-client", "cqlsh", "sqlcmd", "sqlplus", "cypher-shell", "influx", "mycli", "pgcli", "usql":
		if otherServer(rest) {
			return SendsCommands
		}
	case "getent":
		if lex.Within("hosts ahosts ahostsv4 ahostsv6", verb) {
			return sendsInput
		}
	case "ansible", "ansible-playbook", "salt", "pyinfra":
		return SendsCommands
	}
	if IsNetcat(name) {
		return sendsInput
	}
	return NoSender
}

// otherServer reports whether a client of a database is told to use a server on another machine.
func otherServer(rest []string) bool {
	for _, host := range slices.Concat(getopt.OptionValues(rest, "-h", "--host"), getopt.OptionValues(rest, "-S", "--server")) {
		if host != "" && host[0] != '/' && !ThisMachine(host) {
			return true
		}
	}
	return slices.ContainsFunc(rest, func(a string) bool {
		return strings.Contains(a, "://") && !ThisMachine(Host(a)) || strings.Contains(a, "host=") && !strings.Contains(a, "host=/") && !strings.Contains(a, "host=localhost")
	})
}

// senders are the programs that send whatever their verb is.
var senders = sync.OnceValue(func() map[string]Sender {
	table := map[string]Sender{}
	for kind, names := range senderNames {
		for name := range strings.FieldsSeq(names) {
			table[name] = kind
		}
	}
	return table
})

var senderNames = map[Sender]string{
	SendsOptions: "curl wget wget2 curlie aria2c grpcurl websocat wscat hurl",
	SendsWords: `http https xh httpie mail mailx s-nail mutt neomutt sendmail msmtp swaks sendemail ipfs croc wormhole magic-wormhole ffsend transfer
		gist pastebinit termbin socat s3cmd s5cmd b2 mc gdrive megaput megacopy dropbox_uploader onedrive ossutil slackcat telegram-send ntfy magic
		logger rustypaste 0x0 bashupload sprunge wgetpaste pastee dpaste ix mosquitto_pub kcat kafkacat nats restic borg duplicity duplicacy kopia rdiff-backup
		invoke-webrequest invoke-restmethod iwr irm bitsadmin certutil post put get lwp-request hping3 nping
		twine heroku vercel netlify flyctl fly railway doppler wrangler supabase lp`,
	SendsCommands: "sftp ftp lftp ncftpput tnftp tftp smbclient telnet curlftpfs",
	sendsInput: `ssh rsh rlogin rexec dbclient autossh nc ncat netcat dig nslookup host drill kdig delv resolvectl systemd-resolve avahi-resolve ping ping6 traceroute tracepath mtr whois finger
		open xdg-open firefox chromium slack jira linear claude codex gemini llm aider google-chrome lynx links w3m elinks mosh et pwsh redis-cli valkey-cli wall irssi`,
}

// senderVerb covers tools of which some verbs send.
func senderVerb(name, verb string, words, rest []string) Sender {
	switch name {
	case "scp", "pscp", "rsync", "unison", "rclone":
		return SendsToRemote
	case "kubectl", "oc":
		switch {
		case slices.ContainsFunc(words, func(w string) bool { return lex.Within("cp create apply replace patch", w) }):
			return SendsWords
		case slices.ContainsFunc(words, func(w string) bool { return lex.Within("exec run attach", w) }):
			return sendsInput
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
	case "etcdctl", "vault", "consul":
		if slices.ContainsFunc(words, func(w string) bool { return lex.Within("put write patch", w) }) {
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
