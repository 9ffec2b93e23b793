package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// secretPath reports whether the content of a path must not leave this machine
// without a question.
func (j *judge) secretPath(p string) bool {
	return j.protected().Secret(p)
}

// secretWord reports whether a word is secret text, or names a file with a secret.
func (j *judge) secretWord(word string) bool {
	if strings.Contains(word, fromSecret) {
		return true
	}
	if word == "" || len(word) > 4096 || strings.Contains(word, "://") && !strings.HasPrefix(word, "file:") {
		return false
	}
	if len(j.files)+len(j.copies) > 0 {
		if c, ok := j.written(word); ok && c.secret || j.copies[j.fileKey(word)] {
			return true
		}
	}
	// Names of protected files have one of these, unless all of a folder is secret.
	if !strings.ContainsAny(word, "./~_*?[") && !strings.Contains(j.dir, "/.") && !dynamic(word) {
		return false
	}
	if word[0] == '~' {
		word = j.tilde(word) // a program may expand it
	}
	return slices.ContainsFunc(j.spellings(word), j.secretPath)
}

// secretPart reports whether a word or a part of it names a secret: @file,
// name=@file;type=…, --option=file, -Tfile, FILE:file.
func (j *judge) secretPart(word string) bool {
	if j.secretWord(word) {
		return true
	}
	if strings.Contains(word, "://") && !strings.Contains(word, "file") {
		return false
	}
	if len(word) > 2 && word[0] == '-' && word[1] != '-' && j.secretWord(word[2:]) {
		return true
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("@=<;,: ", r) })
	return len(parts) < 64 && slices.ContainsFunc(parts, j.secretWord)
}

// showsSecret reports whether what a statement prints may hold a secret.
func (j *judge) showsSecret(list ...*syntax.Stmt) bool {
	found := false
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				found = found || j.callShowsSecret(j.words(n.Args))
				return false
			case *syntax.DeclClause: // export -p
				found = found || len(n.Args) == 0 || slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Naked && a.Value != nil && a.Value.Lit() == "-p" })
				return false
			case *syntax.Redirect:
				if n.Op == syntax.RdrIn || n.Op == syntax.WordHdoc {
					found = found || j.secretWord(j.word(n.Word))
				}
				return n.Hdoc != nil
			}
			return !found && j.work <= maxWork
		})
	}
	return found
}

// callShowsSecret reports whether a command may print a secret: it reads a file
// with one, or is a program that prints credentials.
func (j *judge) callShowsSecret(args []string) bool {
	for range maxDepth {
		if len(args) == 0 {
			return false
		}
		w, ok := wrapperOf(program(args[0]))
		if !ok {
			break
		}
		if args = w.inner(args[1:]); len(args) == 0 { // env alone prints the environment
			return w.assign
		}
	}
	name, rest := program(args[0]), args[1:]
	switch {
	case printsCredentials(name, rest):
		return true
	case name == "git" && len(rest) > 0 && within("show cat-file diff log blame grep archive", rest[0]):
	case showsNames(name):
		return slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, fromSecret) })
	}
	for _, a := range withoutKeys(name, rest) {
		if j.secretPart(a) {
			return true
		}
	}
	return false
}

// showsNames reports whether a program prints nothing of what is in the files it
// is given, or its arguments are for another machine.
func showsNames(name string) bool {
	switch name {
	case "echo", "printf", "test", "[", "stat", "chmod", "chown", "wc", "du", "file", "basename", "dirname", "realpath", "readlink", "which", "ssh-keygen", "ssh-add", "ssh", "git",
		"touch", "mkdir", "md5sum", "sha1sum", "sha256sum", "rm", "mv", "cp", "source", ".", "cd", "export", "docker", "true":
		return true
	}
	return false
}

// printsCredentials reports whether a program prints credentials or the
// environment.
func printsCredentials(name string, rest []string) bool {
	line := strings.ToLower(strings.Join(rest, " "))
	begins := func(list ...string) bool {
		return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(line, p) })
	}
	switch name {
	case "printenv", "env", "set":
		return len(plainWords(rest)) == 0
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

// withoutKeys returns arguments without the values of options with which a client
// uses a key or a settings file rather than sends it, or names what it writes.
func withoutKeys(name string, rest []string) []string {
	var out []string
	for i := 0; i < len(rest); i++ {
		option, _, joined := strings.Cut(rest[i], "=")
		if within(keyOptions[name], option) || within(anyKeyOption, option) {
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

// madeSecrets reports whether the line put a secret into a file.
func (j *judge) madeSecrets() bool {
	for _, c := range j.files {
		if c.secret {
			return true
		}
	}
	return len(j.copies) > 0
}

// copiesSecret records that a command put a secret into other files: all that it
// names besides the secret itself.
func (j *judge) copiesSecret(name string, rest []string, in input) {
	if showsNames(name) && name != "cp" && name != "mv" || isShell(name) || senderOf(name, rest) == sendsOptions {
		return
	}
	secret := in.secret
	for _, a := range withoutKeys(name, rest) {
		secret = secret || j.secretPart(a)
	}
	if !secret {
		return
	}
	for _, a := range rest {
		_, value, ok := strings.Cut(a, "=")
		if !ok {
			value = a
		}
		if value == "" || value[0] == '-' {
			continue
		}
		if len(j.copies) >= maxFiles {
			j.exhausted()
			return
		}
		if j.copies == nil {
			j.copies = map[string]bool{}
		}
		j.copies[j.fileKey(value)] = true
	}
}
