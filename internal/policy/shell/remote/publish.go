package remote

import (
	"slices"
	"strings"
	"sync"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

// publishers are the verbs of tools that show something to everyone, or change
// who may do so.
var publishers = map[string]string{
	"npm": "publish unpublish deprecate undeprecate owner dist-tag dist-tags access token team", "pnpm": "publish", "yarn": "publish npm", "bun": "publish", "jsr": "publish", "deno": "publish",
	"lerna": "publish", "changeset": "publish", "changesets": "publish", "nx": "release", "vsce": "publish unpublish", "ovsx": "publish", "eas": "submit update", "expo": "publish",
	"cargo": "publish yank owner release", "twine": "upload", "poetry": "publish", "uv": "publish", "hatch": "publish", "flit": "publish", "pdm": "publish", "setup.py": "upload register",
	"gem": "push yank owner", "mvn": "deploy", "gradle": "publish", "sbt": "publish publishsigned", "nuget": "push delete", "dotnet": "nuget", "pod": "trunk", "mix": "hex.publish hex.retire hex.owner",
	"rake": "release gem:push", "lein": "deploy", "cargo-release": "", "dart": "pub", "flutter": "pub", "luarocks": "upload", "cabal": "upload", "stack": "upload", "opam": "publish", "snapcraft": "upload release push", "charmcraft": "upload release",
	"goreleaser": "release publish", "conda": "upload", "anaconda": "upload remove", "ansible-galaxy": "publish", "gh-pages": "", "semantic-release": "", "np": "", "release-it": "", "skopeo": "copy delete sync",
	"crane": "push copy delete tag", "oras": "push copy", "regctl": "image", "cosign": "sign attest upload", "buildah": "push", "helm": "push", "docker": "push", "podman": "push", "nerdctl": "push",
	"fastlane": "", "altool": "", "notarytool": "submit", "huggingface-cli": "upload delete repo", "hf": "upload", "kaggle": "create version", "wandb": "sync",
}

// publishes judges commands that publish packages, releases and pages.
func publishes(l *track.Line, name string, rest []string) {
	words := getopt.VerbWords(rest)
	switch name {
	case "gh", "glab", "hub":
		forge(l, name, words, rest)
		return
	case "mvnw":
		name = "mvn"
	case "gradlew":
		name = "gradle"
	case "git":
		if len(words) > 1 && words[0] == "push" && (words[1] == "heroku" || words[1] == "dokku") {
			l.Ask("publish", "publishes something, or changes who may")
		}
		return
	}
	verbs, known := publishers[name]
	if !known || getopt.IsRehearsal(name, rest) {
		return
	}
	if verbs == "" && len(words) == 0 || publishingVerb(name, words, verbs) || slices.Contains(rest, "--push") {
		l.Ask("publish", "publishes something, or changes who may")
	}
}

// publishingVerb reports whether a word is one of the verbs, and the next one does
// not say that it only looks. Build tools take several tasks, so that any word
// counts.
func publishingVerb(name string, words []string, verbs string) bool {
	if verbs == "" {
		return len(words) > 0 && getopt.DeedOf(words[0], "") != getopt.Looks
	}
	for i, w := range words {
		w = strings.ToLower(w)
		task := w[strings.LastIndexByte(w, ':')+1:]
		build := name == "gradle" || name == "sbt"
		switch {
		case build && strings.HasPrefix(task, "publish") && !strings.HasSuffix(task, "local") && !strings.HasSuffix(task, "m2"), name == "mvn" && (task == "deploy" || strings.HasPrefix(w, "release:")):
			return true
		case build || name == "mvn" || !lex.Within(verbs, w):
			continue
		}
		return i+1 >= len(words) || nestedVerb(w, words[i+1])
	}
	return false
}

// nestedVerb reports whether the word after a verb leaves it publishing.
func nestedVerb(verb, next string) bool {
	switch verb {
	case "npm", "nuget", "pub", "trunk":
		return next == "publish" || next == "push" || next == "delete" || next == "deprecate" || next == "tag"
	}
	return getopt.DeedOf(next, "") != getopt.Looks
}

// forge judges the tools of code hosts: what they delete, publish, or give others.
func forge(l *track.Line, name string, words, rest []string) {
	if len(words) == 0 || getopt.IsRehearsal(name, rest) {
		return
	}
	if pattern, known := forges()[words[0]]; known && getopt.Fits(words, rest, pattern) || words[0] == "api" && apiWrites(rest) {
		l.Ask("publish", "publishes something, or changes who may")
	}
}

// forges are the nouns of these tools with what changes something.
var forges = sync.OnceValue(func() getopt.Table {
	const verbs = "1=delete,create,edit,upload,delete-asset,set,add,archive,unarchive,rename,transfer,deploy-key,remove,mirror"
	return getopt.NewTable(`
		repo: ` + verbs + `
		label: 1=delete
		release secret variable ssh-key gpg-key deploy-key ruleset cache environment: ` + verbs + `,sync
		gist snippet: 1=create,edit,delete
		workflow run pipeline ci: 1=run,disable,delete,enable,trigger
		auth: 1=token --show-token -t&1=status
		codespace cs: 1=delete,ssh,cp,create
		pr mr issue: 1=delete,transfer 1=merge&--admin`)
})

// apiWrites reports whether a call of an API may change something.
func apiWrites(rest []string) bool {
	if methods := getopt.OptionValues(rest, "-X", "--method"); len(methods) > 0 {
		return slices.ContainsFunc(methods, func(m string) bool { return !strings.EqualFold(m, "GET") && !strings.EqualFold(m, "HEAD") })
	}
	if slices.Contains(rest, "graphql") {
		return strings.Contains(strings.Join(rest, " "), "mutation") || lex.Dynamic(strings.Join(rest, " "))
	}
	return getopt.HasShort(rest, "fF") || getopt.HasLong(rest, "--field") || getopt.HasLong(rest, "--raw-field") || getopt.HasLong(rest, "--input")
}
