package gitguard

import (
	"bytes"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Key is one setting that differs between two configuration files, with all its values
// in order.
type Key struct {
	Name     string // "" if a file cannot be read as git's configuration
	Old, New []string
}

// Judge compares two configuration files of git and says which differences are harmless
// to keep, and which make git run a program, read another file, or talk to another
// server. Unknown settings are suspicious.
func Judge(old, new []byte) (harmless, suspicious []Key) {
	return judge(old, new, func(string) bool { return false }, nil)
}

// Judge is the function Judge for the change of a configuration file. It also knows
// where the file is: the folder of a submodule names its own work tree. And it knows which
// remotes there were earlier.
func (c Change) Judge() (harmless, suspicious []Key) {
	if c.odd() {
		return nil, []Key{{}}
	}
	return c.judge(c.Old, c.New)
}

// odd reports whether what a file says is not known, or said: it is or was a link, or is
// closed or too large.
func (c Change) odd() bool {
	return c.Event != Removed && (!c.is.mode.IsRegular() || !c.is.whole || c.is.hidden) || c.Event == Changed && !c.was.mode.IsRegular()
}

func (c Change) judge(old, new []byte) (harmless, suspicious []Key) {
	return judge(old, new, func(value string) bool {
		inModules := strings.Contains("/"+cmpState(c).rel, "/.git/modules/")
		to := path.Join(path.Dir(cmpState(c).rel), filepath.ToSlash(value))
		return inModules && !path.IsAbs(value) && filepath.IsLocal(to) && !strings.Contains("/"+to+"/", "/.git/")
	}, c.remotes)
}

func cmpState(c Change) state {
	if c.is.rel != "" {
		return c.is
	}
	return c.was
}

// judge is Judge with what is known of remotes; nil is what the old file says.
func judge(old, new []byte, worktree func(value string) bool, known *remotes) (harmless, suspicious []Key) {
	was, err1 := parse(old)
	is, err2 := parse(new)
	if err1 != nil || err2 != nil {
		if bytes.Equal(old, new) {
			return nil, nil
		}
		return nil, []Key{{}}
	}
	if known == nil || len(known.read) == 0 {
		known = (*remotes)(nil).with("", old)
		known.begin()
	}
	before, after := values(was), values(is)
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		k := Key{name, before[name], after[name]}
		switch {
		case slices.Equal(k.Old, k.New):
		case name == "core.worktree" && len(k.New) > 0 && !slices.ContainsFunc(k.New, func(v string) bool { return !worktree(v) }), harmlessKey(k, after, known):
			harmless = append(harmless, k)
		default:
			suspicious = append(suspicious, k)
		}
	}
	return harmless, suspicious
}

func values(all []entry) map[string][]string {
	out := map[string][]string{}
	for _, e := range all {
		out[e.name] = append(out[e.name], e.value)
	}
	return out
}

// Keep returns the new configuration with its harmless differences only, and the
// others, about which the user is asked.
func Keep(old, new []byte) (text []byte, suspicious []Key) {
	return keep(old, new, Judge)
}

func keep(old, new []byte, judge func(old, new []byte) (harmless, suspicious []Key)) (text []byte, suspicious []Key) {
	_, suspicious = judge(old, new)
	if len(suspicious) == 0 {
		return new, nil
	}
	is, err := parse(new)
	if err != nil {
		return old, suspicious
	}
	drop := map[string]bool{}
	for _, k := range suspicious {
		drop[k.Name] = true
	}
	at := 0
	for _, e := range is {
		if drop[e.name] {
			text = append(text, new[at:e.start]...)
			at = e.end
		}
	}
	text = append(text, new[at:]...)
	for _, k := range suspicious {
		for _, v := range k.Old {
			text = append(text, "\n"+write(k.Name, v)...)
		}
	}
	// The result is judged as well: a text that is cut may read as something else.
	if _, left := judge(old, text); len(left) > 0 {
		return old, suspicious
	}
	return text, suspicious
}

// Harmless returns the settings of a configuration file that are harmless wherever they
// are, without its comments. It is empty for a file that git could not read.
func Harmless(text []byte) []byte {
	all, err := parse(text)
	if err != nil {
		return nil
	}
	var out []byte
	for _, e := range all {
		if slices.Contains(plain, e.name) && printable(e.value) || strings.HasPrefix(e.name, "color.") && printable(e.value) {
			out = append(out, write(e.name, e.value)...)
		}
	}
	return out
}

// plain are settings whose values are numbers, words and colours. Those of color and
// advice are all of this kind.
var plain = strings.Fields(`
	core.bare core.repositoryformatversion core.filemode core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks
	core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.compression core.bigfilethreshold core.untrackedcache
	core.preloadindex core.splitindex core.sparsecheckout core.sparsecheckoutcone core.whitespace core.commentchar core.commentstring
	extensions.objectformat extensions.compatobjectformat extensions.refstorage extensions.relativeworktrees extensions.preciousobjects
	user.name user.email user.useconfigonly author.name author.email committer.name committer.email init.defaultbranch init.defaultobjectformat init.defaultrefformat
	pull.rebase pull.ff push.default push.autosetupremote push.followtags fetch.prune fetch.prunetags fetch.parallel merge.ff merge.conflictstyle merge.stat merge.log
	merge.renames merge.renamelimit merge.autostash rebase.autostash rebase.autosquash rebase.updaterefs rebase.stat rebase.missingcommitscheck rerere.enabled rerere.autoupdate
	diff.renames diff.renamelimit diff.algorithm diff.colormoved diff.colormovedws diff.mnemonicprefix diff.noprefix diff.context diff.indentheuristic diff.submodule
	diff.ignoresubmodules diff.wserrorhighlight diff.interhunkcontext status.short status.branch status.showstash status.showuntrackedfiles status.submodulesummary status.aheadbehind
	log.date log.decorate log.abbrevcommit log.follow log.showroot commit.verbose commit.status commit.cleanup tag.sort branch.sort
	branch.autosetupmerge branch.autosetuprebase checkout.defaultremote checkout.guess checkout.workers clone.defaultremotename column.ui column.branch column.status column.tag
	help.autocorrect index.version index.threads index.sparse feature.manyfiles gc.auto gc.autodetach gc.pruneexpire maintenance.auto maintenance.strategy
	submodule.recurse submodule.active submodule.fetchjobs safe.directory blame.date grep.linenumber grep.patterntype grep.column lfs.repositoryformatversion`)

// harmlessKey judges one setting; all is the whole new configuration, and known what was
// seen of remotes.
func harmlessKey(k Key, all map[string][]string, known *remotes) bool {
	section, rest, _ := strings.Cut(k.Name, ".")
	last := k.Name[strings.LastIndexByte(k.Name, '.')+1:]
	sub := strings.TrimSuffix(strings.TrimSuffix(rest, last), ".")
	every := func(ok func(string) bool) bool {
		return !slices.ContainsFunc(k.New, func(v string) bool { return !ok(v) })
	}
	switch {
	case slices.Contains(plain, k.Name):
		return every(printable)
	case k.Name == "extensions.partialclone":
		return every(func(v string) bool { return printable(v) && known.fetches(v) })
	case sub == "" && (section == "color" || section == "advice"), section == "color":
		return every(printable)
	case sub == "":
		return false
	case section == "remote":
		return remoteKey(sub, last, k, every, known)
	case section == "branch" && (last == "remote" || last == "pushremote"):
		return every(func(v string) bool { return known.pushes(sub, v, all) })
	case section == "branch":
		return last != "mergeoptions" && every(printable) // others are names, as editors and servers note them
	case section == "submodule":
		return submoduleKey(last, k, every, known)
	}
	return false
}

func remoteKey(sub, last string, k Key, every func(func(string) bool) bool, known *remotes) bool {
	switch {
	case sub[0] == '-' || !printable(sub):
		return false
	case last == "url":
		// Another address of a remote that is there already, or was, would get what the
		// user pushes later.
		return known.address(k)
	case last == "promisor" || last == "partialclonefilter":
		return known.fetches(sub) && every(printable)
	case last == "fetch":
		return every(func(v string) bool { return printable(v) && !strings.HasPrefix(v, "-") })
	}
	return slices.Contains([]string{"tagopt", "prune", "prunetags", "skipdefaultupdate", "skipfetchall", "followremotehead", "gh-resolved"}, last) && every(printable)
}

func submoduleKey(last string, k Key, every func(func(string) bool) bool, known *remotes) bool {
	switch last {
	case "url":
		return known.address(k)
	case "update": // "!program" runs one
		return every(func(v string) bool { return slices.Contains([]string{"checkout", "rebase", "merge", "none"}, v) })
	case "active", "branch", "ignore", "shallow", "fetchrecursesubmodules":
		return every(printable)
	}
	return false
}

// harmlessURL accepts what git's own transports reach. "name::address" would run a
// program git-remote-name, and a dash makes an option of it.
func harmlessURL(v string) bool {
	if v == "" || v[0] == '-' || !printable(v) || strings.Contains(v, "::") || strings.Contains(v, "://-") {
		return false
	}
	scheme, rest, ok := strings.Cut(v, "://")
	if !ok {
		host, to, scp := strings.Cut(v, ":")
		return !scp || !strings.HasPrefix(host, "-") && !strings.Contains(host, "@-") && !strings.HasPrefix(to, "-")
	}
	return slices.Contains([]string{"https", "http", "ssh", "git", "file", "git+ssh", "ssh+git"}, scheme) && rest != "" && !strings.Contains(rest, "@-")
}

func printable(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) && !strings.HasPrefix(v, "!")
}

// kind says what a name in the configuration is.
type kind int

const (
	namesFile   kind = iota // a program, or another file that git obeys
	namesConfig             // more configuration
	namesFolder             // a folder with all in it
)

// mention is one name in a configuration file, which may be that of a file or folder.
type mention struct {
	key, name string
	kind      kind
}

// mentions is what a configuration file names.
type mentions struct {
	text  []byte
	list  []mention
	trees []string // values of core.worktree
}

// mentionsOf lists what a configuration file names.
func mentionsOf(text []byte) (mentions, error) {
	out := mentions{text: text}
	all, err := parse(text)
	if err != nil {
		return out, err
	}
	known := values(all)
	out.trees = known["core.worktree"]
	for _, e := range all {
		key := spelled(e.name)
		switch {
		case e.name == "include.path" || strings.HasPrefix(e.name, "includeif.") && strings.HasSuffix(e.name, ".path"):
			out.list = append(out.list, mention{key, e.value, namesConfig})
		case e.name == "core.hookspath" || e.name == "init.templatedir":
			out.list = append(out.list, mention{key, e.value, namesFolder})
		case e.name == "core.attributesfile":
			out.list = append(out.list, mention{key, e.value, namesFile})
		case slices.Contains(texts, e.name), harmlessKey(Key{Name: e.name, New: []string{e.value}}, known, nil):
		default:
			for _, word := range programWords(e.value) {
				out.list = append(out.list, mention{key, word, namesFile})
			}
		}
	}
	return out, nil
}

// texts are settings that name files which git only shows or compares.
var texts = strings.Fields(`commit.template core.excludesfile blame.ignorerevsfile mailmap.file format.signaturefile fsck.skiplist fetch.fsck.skiplist receive.fsck.skiplist`)

// hookNames are the files that git runs in a folder of hooks.
const hookNames = `applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push
	pre-receive update proc-receive post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change
	p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit`

// spelled returns the name of a setting as git's manual has it.
func spelled(name string) string {
	for _, key := range []string{"core.hooksPath", "core.attributesFile", "core.sshCommand", "core.askPass", "core.gitProxy", "init.templateDir", "sequence.editor", "uploadpack.packObjectsHook"} {
		if strings.EqualFold(name, key) {
			return key
		}
	}
	if rest, ok := strings.CutPrefix(name, "includeif."); ok {
		return "includeIf." + rest
	}
	return name
}

// programWords returns the words of a command line that hold a slash, and so may be files.
// It knows no grammar: a word too many is looked up and found to be nothing. What follows
// a variable or another command, as in $(git rev-parse --show-toplevel)/x, is taken without
// the slash that it begins with.
func programWords(value string) (out []string) {
	const breaks = " \t\n\r\"'`;|&()<>{}[]=,!"
	add := func(word string, follows bool) {
		if i := strings.IndexByte(word, '$'); i >= 0 {
			_, word, _ = strings.Cut(word[i:], "/")
			follows, word = true, "/"+word
		}
		if follows {
			word = "./" + strings.TrimLeft(word, "/")
		}
		if strings.Trim(word, "./") != "" && strings.Contains(word, "/") {
			out = append(out, word)
		}
	}
	line := strings.NewReplacer("${HOME}/", "~/", "$HOME/", "~/").Replace(value)
	follows, start := false, 0
	for i := 0; i <= len(line); i++ {
		if i < len(line) && strings.IndexByte(breaks, line[i]) < 0 {
			continue
		}
		if i > start {
			add(line[start:i], follows && line[start] == '/')
			follows = strings.IndexByte(line[start:i], '$') >= 0
		}
		if i < len(line) {
			follows = strings.IndexByte("`)}", line[i]) >= 0 || follows && strings.IndexByte("\"'", line[i]) >= 0
		}
		start = i + 1
	}
	if whole := strings.TrimPrefix(value, "!"); strings.Contains(whole, " ") && !strings.ContainsAny(whole, breaks[1:]) {
		add(whole, false) // a file with a blank in its name
	}
	return unique(out)
}
