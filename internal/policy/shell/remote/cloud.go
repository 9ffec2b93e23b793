// Package remote judges commands that reach other machines: clouds, clusters, databases,
// containers, registries, code that is fetched, and connections that let others in.
package remote

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// clouds are command line tools of services whose resources others use, too, each
// with its words that only look. What is not known to look needs approval.
var clouds = map[string]string{
	"aws": "", "aws2": "", "awscli": "", "awslocal": "", "gcloud": "components config", "az": "account", "gsutil": "hash", "bq": "mk-definition", "oci": "", "doctl": "", "hcloud": "context", "linode-cli": "", "vultr-cli": "",
	"ibmcloud": "target", "aliyun": "", "tccli": "", "scw": "", "exo": "", "civo": "", "openstack": "", "yc": "", "eksctl": "", "kops": "", "databricks": "", "confluent": "", "atlas": "",
	"mongocli": "", "pscale": "shell", "neonctl": "", "turso": "", "snow": "", "vault": "", "consul": "members catalog", "nomad": "", "boundary": "", "stripe": "listen trigger", "twilio": "", "auth0": "",
	"okta": "", "s3cmd": "", "s5cmd": "", "mc": "alias", "b2": "", "ossutil": "", "upctl": "", "render": "",

	"heroku": "local open apps pg addons domains dyno", "fly": "open dashboard", "flyctl": "open dashboard", "vercel": "dev build link pull switch bisect", "now": "dev", "netlify": "dev build link open",
	"railway": "link open shell run environment", "firebase": "serve emulators:start emulators:exec use open", "wrangler": "dev types generate", "supabase": "start stop new serve gen link",
	"sls": "offline package", "serverless": "offline package", "sam": "build local", "eb": "local open", "amplify": "mock", "cf": "target apps", "copilot": "", "surge": "",
	"kamal": "", "cap": "-T", "dokku": "", "convox": "",

	"terraform": "console workspace-list", "tofu": "console", "terragrunt": "hclfmt", "pulumi": "new about console", "cdk": "context metadata", "cdktf": "get convert",
}

// cloud judges tools that change what runs elsewhere.
func cloud(l *track.Line, name string, rest []string) {
	quiet, known := clouds[name]
	words := getopt.VerbWords(rest)
	switch {
	case name == "rclone":
		transfers(l, words)
		return
	case !known || getopt.IsRehearsal(name, rest) || len(words) == 0 && name != "vercel" && name != "now" && name != "surge":
		return
	}
	if strings.HasPrefix(name, "aws") {
		words = awsVerb(words)
	}
	if name == "az" { // it has no arguments without an option: the last word is the verb
		words = lastSure(rest)
	}
	if name == "terragrunt" {
		words = slices.DeleteFunc(words, func(w string) bool { return w == "run-all" || w == "stack" })
	}
	if getopt.HasDeletion(rest) || getopt.HasLong(rest, "--remove") || getopt.HasLong(rest, "--delete-destination") {
		l.Ask("cloud-delete", "deletes or stops what runs in a cloud or at a service")
		return
	}
	if program.Fetches(words) {
		return
	}
	switch getopt.FirstDeed(words, quiet) {
	case getopt.Deletes:
		l.Ask("cloud-delete", "deletes or stops what runs in a cloud or at a service")
	case getopt.Changes, getopt.NoDeed:
		l.Ask("cloud-change", "changes what runs in a cloud or at a service")
	}
}

// awsVerb returns the operation of an AWS service, with what follows it.
func awsVerb(words []string) []string {
	if len(words) > 1 && words[0] != "help" {
		if words[0] == "configure" && (words[1] == "set" || words[1] == "import" || words[1] == "add-model") {
			return []string{"set"}
		}
		if words[0] == "configure" {
			return []string{"configure"}
		}
		return words[1:]
	}
	return words
}

func lastSure(rest []string) []string {
	for i, a := range rest {
		if len(a) > 1 && a[0] == '-' {
			if i > 0 {
				return rest[i-1 : i]
			}
			return getopt.VerbWords(rest)
		}
	}
	return rest[max(len(rest)-1, 0):]
}

// transfers judges rclone, which copies between this machine and services.
func transfers(l *track.Line, words []string) {
	if len(words) == 0 {
		return
	}
	switch words[0] {
	case "copy", "copyto":
		if len(words) > 2 && strings.Contains(words[1], ":") && !strings.Contains(words[2], ":") {
			return
		}
	case "ls", "lsd", "lsl", "lsf", "lsjson", "tree", "size", "check", "cat", "version", "about", "listremotes", "help", "hashsum", "md5sum", "sha1sum", "ncdu", "genautocomplete", "completion":
		return
	case "config":
		return
	case "delete", "purge", "deletefile", "rmdir", "rmdirs", "cleanup", "sync", "move", "moveto", "dedupe":
		l.Ask("cloud-delete", "deletes or stops what runs in a cloud or at a service")
		return
	}
	l.Ask("cloud-change", "changes what runs in a cloud or at a service")
}

// Metadata recognizes the addresses at which clouds hand out credentials.
func Metadata(l *track.Line, name, arg string) {
	switch name {
	case "echo", "printf", "grep", "rg", "git", "gh", "ag":
		return
	}
	if !strings.ContainsAny(arg, ".:x8") {
		return
	}
	low := strings.ToLower(arg)
	for _, address := range []string{"169.254.169.254", "169.254.170.2", "169.254.170.23", "metadata.google.internal", "metadata.goog", "100.100.100.200", "fd00:ec2::254", "2852039166", "0xa9fea9fe", "a9fe:a9fe", "metadata.azure"} {
		if strings.Contains(low, address) {
			l.Ask("cloud-metadata", "accesses the cloud metadata service, which hands out credentials")
			return
		}
	}
}

// Tools judges tools that change things elsewhere. A package manager or a language
// may start them: `npx prisma migrate reset` is judged as `prisma migrate reset`.
func Tools(l *track.Line, name string, rest []string, s track.Situation) {
	name = program.ToolName(name)
	cloud(l, name, rest)
	remoteRun(l, name, rest)
	cluster(l, name, rest)
	publishes(l, name, rest)
	Fetches(l, name, rest)
	databases(l, name, rest, s.In)
	if program.ConsoleCode(name, rest) {
		l.Ask("inline-code", "runs program code given in the command")
	}
	if inner := program.Started(name, rest); len(inner) > 0 && l.Depth < lex.MaxDepth {
		l.Depth++
		Tools(l, lex.Program(inner[0]), inner[1:], s)
		l.Depth--
	}
}

// remoteRun judges programs that run commands on other machines, or set them up.
func remoteRun(l *track.Line, name string, rest []string) {
	if elsewhere().Has(name, rest) && !getopt.IsRehearsal(name, rest) {
		l.Ask("remote-run", "runs commands on other machines, or removes them")
	}
}

var elsewhere = sync.OnceValue(func() getopt.Table {
	return getopt.NewTable(`
		ansible ansible-playbook ansible-pull ansible-console salt salt-call salt-ssh pssh parallel-ssh pdsh clush dsh fab chef-client mco bolt psexec winrs: args
		puppet: 0=apply,agent
		knife: any=delete 0=ssh,bootstrap
		packer: 0=build
		vagrant: 0=destroy,halt,ssh 0=snapshot&!any=list`)
})
