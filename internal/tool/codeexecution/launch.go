package codeexecution

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed boot.py
var bootScript string

// safe are the variables that scripts get, if they are set. None of them is a secret by its name.
const safe = `ALL_PROXY BUN_INSTALL_CACHE_DIR CARGO_HOME CONDA_DEFAULT_ENV CONDA_PREFIX CURL_CA_BUNDLE GIT_SSL_CAINFO GOCACHE GOFLAGS GOMODCACHE GOPATH
HERMES_CHANNEL HERMES_HOME HERMES_PROFILE HERMES_STARTED_BY_AGENT HOME HTTPS_PROXY HTTP_PROXY JAVA_HOME LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE
LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME LOGNAME NODE_EXTRA_CA_CERTS NO_PROXY OLDPWD PATH PIP_CACHE_DIR PWD PYENV_ROOT PYENV_VERSION PYTHONPATH
REQUESTS_CA_BUNDLE SHELL SSL_CERT_DIR SSL_CERT_FILE TEMP TERM TMP TMPDIR TZ USER UV_CACHE_DIR VIRTUAL_ENV XDG_CACHE_HOME XDG_CONFIG_HOME
XDG_DATA_HOME YARN_CACHE_FOLDER all_proxy http_proxy https_proxy no_proxy npm_config_cache npm_config_https_proxy npm_config_noproxy npm_config_proxy`

// noPython is the exit code of the line if there is no Python.
const noPython = 86

// python is an interpreter that was found, and for which search path.
type python struct{ key, program string }

// sessionPythons are the interpreters of all sessions. Each session has its own, since a script
// is confined to what its session may do, and says by itself which interpreter runs it.
type sessionPythons struct {
	mu  sync.Mutex
	all map[string]*pythons
}

// of returns the interpreters of a session.
func (s *sessionPythons) of(session string) *pythons {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*pythons{}
	}
	if s.all[session] == nil {
		s.all[session] = &pythons{}
	}
	return s.all[session]
}

// forget frees what is known of a session.
func (s *sessionPythons) forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, session)
}

// pythons remembers the interpreters behind programs such as pyenv's, which take a third of
// a second to find them.
type pythons struct {
	mu    sync.Mutex
	known []python
}

// maxPythons is how many interpreters are remembered.
const maxPythons = 32

// maxPath is the longest path of an interpreter and its key, in bytes.
const maxPath = 4096

func (p *pythons) add(found python) {
	if len(found.key)+len(found.program) > maxPath || strings.ContainsRune(found.key+found.program, 0) {
		return // no shell could read it
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.known {
		if k == found {
			return
		}
	}
	p.known = append(p.known, found)
	p.known = p.known[max(0, len(p.known)-maxPythons):]
}

// cases returns the branches of a case statement over the key.
func (p *pythons) cases() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	for _, k := range p.known {
		b.WriteString(word(k.key) + ") [ ! -x " + word(k.program) + " ] || p=" + word(k.program) + " ;;\n")
	}
	return b.String()
}

// line returns the command that starts a Python for a script: in a folder of its own if
// strict, else in the current one with the packages of an active virtual environment. It
// passes on safe variables only.
func line(known *pythons, strict bool, passthrough []string) string {
	var b strings.Builder
	b.WriteString("p=\n")
	if !strict {
		b.WriteString(`if [ "${VIRTUAL_ENV-}" ] && [ -x "$VIRTUAL_ENV/bin/python3" ]; then p=$VIRTUAL_ENV/bin/python3
elif [ "${CONDA_PREFIX-}" ] && [ -x "$CONDA_PREFIX/bin/python3" ]; then p=$CONDA_PREFIX/bin/python3; fi
`)
	}
	b.WriteString(`[ "$p" ] || p=$(command -v python3 || command -v python) || exit 86
k="$p:$PWD:${PYENV_VERSION-}"
case $k in
` + known.cases() + `esac
`)
	run := `env -i "HERMES_PYTHON_KEY=$k"`
	for _, name := range append(strings.Fields(safe), passthrough...) {
		if isName(name) {
			run += ` ${` + name + `+"` + name + `=$` + name + `"}`
		}
	}
	run += ` "$p"`
	if !strict {
		b.WriteString("exec " + run + " -c " + word(bootScript) + "\n")
		return b.String()
	}
	b.WriteString(`d=$(mktemp -d) || exit
trap 'rm -rf -- "$d"' EXIT
trap 'exit 143' TERM
cd -- "$d" || exit
` + run + " -I -c " + word(bootScript) + "\nexit $?\n")
	return b.String()
}

func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) && (s[0] < '0' || s[0] > '9')
}

// word quotes a text as one word for a POSIX shell.
func word(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
