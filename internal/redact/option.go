package redact

import "strings"

// programOption is a short option that gives a program a secret.
type programOption struct {
	name string // such as -u
	// cut is the byte before the secret in the value, as in user:password; 0 if
	// the whole value is the secret, ';' if it is a list of cookies.
	cut      byte
	attached bool // only as -pVALUE: the option alone asks for the secret
	login    bool // only where the command has the word login
}

// The options of programs. Long ones are found by their names, unless these do not
// announce a secret.
var (
	curlOptions     = []programOption{{name: "-u", cut: ':'}, {name: "--user", cut: ':'}, {name: "-U", cut: ':'}, {name: "--proxy-user", cut: ':'}, {name: "-b", cut: ';'}, {name: "--cookie", cut: ';'}}
	httpieOptions   = []programOption{{name: "-a", cut: ':'}, {name: "--auth", cut: ':'}}
	sambaOptions    = []programOption{{name: "-U", cut: '%'}}
	keygenOptions   = []programOption{{name: "-P"}, {name: "-N"}}
	snmpOptions     = []programOption{{name: "-A"}, {name: "-X"}}
	attachedOptions = []programOption{{name: "-p", attached: true}}
	loginOptions    = []programOption{{name: "-p", login: true}}
	optionA         = []programOption{{name: "-a"}}
	optionP         = []programOption{{name: "-p"}}
	optionCapitalP  = []programOption{{name: "-P"}}
	optionPW        = []programOption{{name: "-pw"}}
	optionW         = []programOption{{name: "-w"}}
)

// optionsOf returns the short options with which a program is given a secret.
func optionsOf(program string) []programOption {
	switch program {
	case "curl":
		return curlOptions
	case "http", "https", "xh", "xhs":
		return httpieOptions
	case "smbclient", "rpcclient":
		return sambaOptions
	case "ssh-keygen":
		return keygenOptions
	case "snmpget", "snmpwalk", "snmpset", "snmpbulkwalk":
		return snmpOptions
	case "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlshow", "mysqlcheck", "mariadb", "mariadb-dump", "mariadb-admin", "7z", "7za", "7zz", "rar", "unrar":
		return attachedOptions
	case "docker", "podman", "nerdctl", "buildah", "skopeo", "helm", "oras", "az", "oc", "cf", "crane", "nomad":
		return loginOptions
	case "redis-cli":
		return optionA
	case "sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "twine":
		return optionP
	case "unzip", "zip", "sqlcmd", "bcp", "ipmitool", "mosquitto_pub", "mosquitto_sub":
		return optionCapitalP
	case "plink", "pscp", "psftp":
		return optionPW
	case "ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldappasswd", "ldapwhoami":
		return optionW
	}
	return nil
}

// option masks the value of the option s[i:end], as in --password hunter2.
func (p *pass) option(i, end int) int {
	s := p.s
	if strings.HasSuffix(s[i:end], "-----BEGIN") {
		return p.privateKey(end)
	}
	if i > 0 && !isBlank(s[i-1]) && s[i-1] != '\n' && !isQuote(s[i-1]) || end-i < 2 || end-i > nameBound {
		return 0
	}
	if end < len(s) && s[end] == '=' { // long ones are judged at the equals sign
		return p.shortOption(i, end)
	}
	name := strings.TrimLeft(s[i:end], "-")
	if name == "" {
		return 0
	}
	if k := nameKind(name); k >= token && len(name) > 2 {
		return p.longOption(k, i, end)
	}
	if strings.HasPrefix(name, "pass") {
		return p.passOption(end)
	}
	return p.shortOption(i, end)
}

// longOption masks the value of an option whose name announces a secret.
func (p *pass) longOption(k kind, i, end int) int {
	from, to, mark := p.argument(end)
	value := p.s[from:to]
	secret := value != "" && value[0] != '-' && !referring(value, true) && !typeName(value)
	switch {
	case !secret:
	case mark != 0:
		secret = !sentence(value) || k == phrase
	case code(value):
		secret = false
	default:
		secret = looksSecret(k, value) || k == phrase && !common(value) && p.endsCommand(to)
	}
	if p.undecided(end) || !secret {
		return 0
	}
	p.maskPhrase(from, to)
	return to
}

// endsCommand reports whether no word of a sentence follows an argument: the line
// or the quote ends, or another option or a separator comes.
func (p *pass) endsCommand(at int) bool {
	after := p.skipBlanks(at)
	return after == len(p.s) || strings.IndexByte("\n-|;&\"'`)]>,\\", p.s[after]) >= 0
}

// passOption masks the password of openssl's -passin pass:hunter2.
func (p *pass) passOption(end int) int {
	from, to, _ := p.argument(end)
	if p.undecided(end) {
		return 0
	}
	rest, ok := strings.CutPrefix(p.s[from:to], "pass:")
	if !ok || rest == "" || referring(rest, true) {
		return 0
	}
	p.mask(to-len(rest), to)
	return to
}

// shortOption masks the value of an option that the program before it defines.
func (p *pass) shortOption(i, end int) int {
	s := p.s
	switch s[i+1] {
	case 'p', 'P', 'N', 'u', 'U', 'a', 'A', 'b', 'w', 'X', '-':
	default:
		return 0
	}
	name := p.program(i)
	for _, o := range optionsOf(name) {
		if !strings.HasPrefix(s[i:end], o.name) || o.login && !strings.Contains(s[p.command.at:i], " login") {
			continue
		}
		rest := i + len(o.name)
		var from, to int
		switch {
		case rest < end && o.name[1] == '-':
			continue
		case rest < end: // -pVALUE
			from, to = rest, p.bareArgument(rest)
		case rest < len(s) && s[rest] == '=' && o.name[1] != '-': // -p=VALUE
			from, to = rest+1, p.bareArgument(rest+1)
		case rest < len(s) && s[rest] == '=':
			continue
		case rest < len(s) && isQuote(s[rest]) && !(i > 0 && s[i-1] == s[rest]): // -p'VALUE'
			from, to = p.quotedArgument(rest)
		case o.attached:
			continue
		default:
			from, to, _ = p.argument(rest)
		}
		if p.undecided(i) {
			return 0
		}
		return p.optionValue(o, from, to)
	}
	p.undecided(i)
	return 0
}

// optionValue masks the secret part of an option's value.
func (p *pass) optionValue(o programOption, from, to int) int {
	value := p.s[from:to]
	switch o.cut {
	case 0:
	case ';':
		if !strings.Contains(value, "=") {
			return 0
		}
		return p.cookiePairs(from, to, 0, true)
	default:
		at := strings.IndexByte(value, o.cut)
		if at < 0 {
			return 0
		}
		from, value = from+at+1, value[at+1:]
	}
	if value == "" || value[0] == '-' || referring(value, true) || placeholder(value) {
		return 0
	}
	p.maskPhrase(from, to)
	return to
}

// argument finds the next argument: after blanks, or the next text of a list in
// code, as in ["-u", "bob:secret"].
func (p *pass) argument(at int) (from, to int, mark byte) {
	s := p.s
	if at < len(s) && isQuote(s[at]) {
		next := at + 1
		for next < len(s) && (isBlank(s[next]) || s[next] == ',' || s[next] == '\n') && next < at+lineBound {
			next++
		}
		p.read(at, next)
		if next == at+1 || next == len(s) || s[next] != s[at] {
			return at, at, 0
		}
		from, to = p.quotedArgument(next)
		return from, to, s[next]
	}
	next := p.skipBlanks(at)
	if next == at || next == len(s) {
		return at, at, 0
	}
	if isQuote(s[next]) {
		from, to = p.quotedArgument(next)
		return from, to, s[next]
	}
	return next, p.bareArgument(next), 0
}

// quotedArgument returns what is between the quote at a place and the next one.
func (p *pass) quotedArgument(at int) (from, to int) {
	s := p.s
	from, to = at+1, at+1
	for to < len(s) && to < from+lineBound && s[to] != s[at] && s[to] != '\n' {
		to++
	}
	p.read(from, to)
	return from, to
}

// bareArgument returns the end of an argument without quotes.
func (p *pass) bareArgument(at int) int {
	s, from := p.s, at
	for at < len(s) && at < from+lineBound {
		switch s[at] {
		case ' ', '\t', '\n', '"', '\'', '`', '|', ';', '<', '>', ')', '(', ']':
			p.read(from, at)
			return at
		}
		at++
	}
	p.read(from, at)
	return at
}

// commandMemo is the last program that was looked for, from the option at upto.
type commandMemo struct {
	known bool
	upto  int
	at    int
	name  string
}

// program returns the program of the option at i: the nearest known one before it
// in the same command.
func (p *pass) program(i int) string {
	s := p.s
	at, stop := i, max(0, i-commandBound)
	word := i                                      // the end of the word that is read
	for !p.command.known || at != p.command.upto { // the rest was read for the option before
		ends := at == stop
		if !ends {
			ends = commandByte[s[at-1]] == endsCommandByte
		}
		if ends || commandByte[s[at-1]] == endsWordByte {
			if name := s[at:max(at, word)]; optionsOf(name) != nil {
				p.command = commandMemo{true, i, at, name}
				break
			}
			word = at - 1
		}
		if ends {
			p.command = commandMemo{known: true, upto: i, at: at}
			break
		}
		at--
	}
	p.steps += i - at
	p.command.upto = i
	if i-p.command.at > commandBound {
		return ""
	}
	return p.command.name
}

// The bytes that end a word, or the command before an option.
const (
	endsWordByte    = 1
	endsCommandByte = 2
)

var commandByte = func() (t [256]uint8) {
	for _, c := range []byte(" \t\"'`,[/") {
		t[c] = endsWordByte
	}
	for _, c := range []byte("\n;|&(`") {
		t[c] = endsCommandByte
	}
	return t
}()
