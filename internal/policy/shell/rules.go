package shell

import "strings"

// rules judges one command without its wrappers. args[0] is the command.
func (j *judge) rules(name string, args []string, s situation) {
	rest := args[1:]
	j.sql(name, rest, s.in)
	j.ranAfterChmod(args)
	j.setsLater(name, rest)
	j.otherVersioning(name, rest)
	j.remote(name, rest, s)
	j.persists(name, rest)
	j.accounts(name, rest)
	j.system(name, rest)
	j.tools(name, rest, s)
	if !j.probing { // the program around it counts as a writer of all that it names
		j.named(name, rest, s)
	}
	j.uploads(name, rest, s)
	j.recursive(name, rest)
	j.overwrites(name, rest, s)
	j.loses(name, rest, s)
	j.applies(name, rest, s)
	j.builds(name, rest, s)
	j.runsWritten(args)
	j.scriptArguments(name, rest)
	defer j.records(name, rest, s)
	if !isShell(name) && !isInterpreter(name) {
		j.hiddenTexts(name, rest)
	}
	j.otherAgent(name, rest)
	j.optionPrograms(name, rest, s.in)
	j.archives(name, rest)
	j.machine(name, rest)
	j.packageSources(name, rest)
	switch name {
	case "rm", "grm", "srm", "trash-rm", "wipe", "sdelete":
		j.remove(rest)
	case "rimraf", "del-cli":
		j.remove(append([]string{"-r"}, rest...))
	case "unlink", "shred":
		j.shred(name, rest)
	case "del", "erase", "rd", "rmdir", "remove-item", "ri":
		j.removeWindows(name, rest)
	case "chmod":
		j.chmod(rest)
	case "chown", "chgrp":
		if hasShort(rest, "R") || hasLong(rest, "--recursive") {
			j.ask("recursive-chown", "changes the owner of a folder and everything in it")
		}
	case "dd":
		j.dd(rest)
	case "tee", "sponge":
		j.writeAll(plainWords(rest))
	case "cp", "mv", "install", "ln", "rsync", "scp", "gcp", "gmv", "copy", "move":
		j.copy(name, rest)
	case "sed", "gsed":
		j.sed(rest)
		if hasShort(rest, "i") || hasLong(rest, "--in-place") {
			j.writeAll(plainWords(rest))
		}
	case "truncate":
		j.writeAll(plainWords(rest))
	case "curl", "wget":
		j.download(name, rest)
	case "find", "gfind":
		j.search(rest, s)
	case "fd", "fdfind":
		j.searchWithFd(rest, s)
	case "git":
		j.git(rest)
	case "kill":
		j.kill(rest, s)
	case "pkill", "killall", "killall5", "taskkill", "stop-process":
		j.killByName(name, rest)
	case "hermes":
		j.hermes(rest, s.background)
	case "eval":
		j.eval(rest)
	case "source", ".":
		j.source(rest, s)
	default:
		j.moreRules(name, rest, s)
	}
}

// moreRules applies the rules that cover families of names.
func (j *judge) moreRules(name string, rest []string, s situation) {
	switch {
	case isShell(name):
		j.shell(name, rest, s)
	case isInterpreter(name):
		j.interpreter(name, rest, s)
	case j.containers(name, rest, s):
	case j.formats(name, rest), j.stops(name, rest), j.services(name, rest), j.packages(name, rest):
		j.afterMarker(rest, s)
	default:
		j.hidden(name, rest, s)
	}
}

func (j *judge) sudo(own []string) {
	if hasShort(own, "SA") || hasLong(own, "--stdin") || hasLong(own, "--askpass") {
		j.ask("sudo-password", "passes a password to sudo")
	}
}

func (j *judge) eval(rest []string) {
	text := strings.Join(rest, " ")
	if strings.Contains(text, fromDownload) {
		j.ask("download-to-shell", "runs a download as shell commands")
	}
	j.ask("eval", "runs a command that is built at run time")
	if !dynamic(text) {
		j.script(text)
	}
}
