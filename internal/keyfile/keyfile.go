// Package keyfile recognises files that hold keys or credentials by their content, whatever
// they are called: private keys, key stores, logins of programs, and lists of secrets such as .env.
//
// Names are judged elsewhere (package policy); a copy with another name is found here. Public keys, certificates, source code and texts that
// only speak of keys are none. What is encrypted, packed or split is not found.
package keyfile

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"regexp"
	"strings"

	"hermes/internal/lazy"
)

// MaxRead bounds how much of a file is looked at, in bytes: its beginning and, of a longer one, its end.
const MaxRead = 64 << 10

// File says what a file seems to hold, such as "a private key", and "" if it seems to hold nothing
// of the kind. Only regular files are read. A file that is not there, or that may not be read,
// holds nothing that a command of the same user could send.
func File(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, err := head(f, info.Size())
	if err != nil {
		return ""
	}
	return Text(text)
}

// head reads what is looked at of a file.
func head(f interface {
	io.Reader
	io.ReaderAt
}, size int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(f, MaxRead))
	if err != nil || size <= MaxRead {
		return text, err
	}
	end := make([]byte, MaxRead)
	n, err := f.ReadAt(end, max(MaxRead, size-MaxRead))
	if err == io.EOF {
		err = nil
	}
	return append(append(text, '\n'), end[:n]...), err
}

// Text says the same of the content of a file.
func Text(b []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(b, m.begin) {
			return m.what
		}
	}
	if isPKCS12(b) {
		return "a key store"
	}
	b = utf8Text(b)
	if bytes.Contains(b, []byte("PRIVATE KEY")) && privateKey().Match(b) {
		return "a private key"
	}
	for _, s := range shapes {
		if bytes.Contains(b, []byte(s.word)) && s.shape().Match(b) {
			return s.what
		}
	}
	if isEnvironment(b) {
		return "a list of secrets"
	}
	return ""
}

// utf8Text returns UTF-16 text, as Windows writes it, as bytes.
func utf8Text(b []byte) []byte {
	if len(b) < 4 || !bytes.HasPrefix(b, []byte{0xFF, 0xFE}) && !bytes.HasPrefix(b, []byte{0xFE, 0xFF}) {
		return b
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if b[0] == 0xFE {
		order = binary.BigEndian
	}
	out := make([]byte, 0, len(b)/2)
	for i := 2; i+1 < len(b); i += 2 {
		if c := order.Uint16(b[i:]); c < 0x80 {
			out = append(out, byte(c))
		} else {
			out = append(out, '?')
		}
	}
	return out
}

// magics are the beginnings of files that are no text.
var magics = []struct {
	begin []byte
	what  string
}{
	{[]byte{0xFE, 0xED, 0xFE, 0xED}, "a key store"}, // Java
	{[]byte{0xCE, 0xCE, 0xCE, 0xCE}, "a key store"}, // JCEKS
	{[]byte{0x03, 0xD9, 0xA2, 0x9A}, "a password database"},
	{[]byte("openssh-key-v1\x00"), "a private key"},
	{[]byte("PuTTY-User-Key-File-"), "a private key"},
	{[]byte("(11:private-key"), "a private key"},           // GnuPG
	{[]byte("(21:protected-private-key"), "a private key"}, // the same
	{[]byte("$ANSIBLE_VAULT;"), "a vault"},
}

// isPKCS12 recognises a key store by its first fields: version 3 and data, signed or not (RFC 7292, section 4).
func isPKCS12(b []byte) bool {
	if len(b) < 40 || b[0] != 0x30 {
		return false
	}
	rest := b[2:]
	if b[1] >= 0x80 {
		if b[1]&0x7F > 4 {
			return false
		}
		rest = rest[b[1]&0x7F:]
	}
	return bytes.HasPrefix(rest, []byte{0x02, 0x01, 0x03, 0x30}) && bytes.Contains(b[:40], []byte{0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07})
}

// privateKey is a block of PEM, or one in JSON, whose body follows: the label alone is only mentioned.
var privateKey = lazy.Regexp(`-----BEGIN (?:[A-Z0-9 ]{1,30} )?PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n|[A-Za-z][A-Za-z-]*: [^\n\\]*)*[A-Za-z0-9+/=\s\\]{64}`)

// shapes are forms of credentials, each with a word that is in all of its texts.
var shapes = []struct {
	word  string
	shape func() *regexp.Regexp
	what  string
}{
	{"AGE-SECRET-KEY-1", lazy.Regexp(`AGE-SECRET-KEY-1[0-9A-Z]{50}`), "a private key"},
	{"private-key", lazy.Regexp(`(?m)^Key: \((?:protected-)?private-key\b`), "a private key"},
	{"secret_access_key", lazy.Regexp(`(?im)^\s*aws_secret_access_key\s*=\s*[A-Za-z0-9+/]{40}\b`), "credentials of a cloud"},
	{"SECRET_ACCESS_KEY", lazy.Regexp(`(?m)AWS_SECRET_ACCESS_KEY\s*[=:]\s*["']?[A-Za-z0-9+/]{40}\b`), "credentials of a cloud"},
	{"SecretAccessKey", lazy.Regexp(`"SecretAccessKey"\s*:\s*"[A-Za-z0-9+/]{40}"`), "credentials of a cloud"},
	{"refresh_token", lazy.Regexp(`"refresh_token"\s*:\s*"[^"\s]{20,}"`), "a login"},
	{"client-key-data", lazy.Regexp(`client-key-data:\s*["']?[A-Za-z0-9+/]{64}`), "credentials of a cluster"},
	{"_authToken", lazy.Regexp(`(?m)^\s*//\S+:_authToken\s*=\s*["']?[^\s$"'{][^\s"']{15,}`), "a login of a package registry"},
	{"_password", lazy.Regexp(`(?m)^\s*//\S+:_password\s*=\s*["']?[^\s$"'{][^\s"']{7,}`), "a login of a package registry"},
	{`"auths"`, lazy.Regexp(`"auth"\s*:\s*"[A-Za-z0-9+/=]{12,}"`), "a login of a container registry"},
	{"machine", lazy.Regexp(`(?m)^\s*machine\s+\S+\s+(?:login\s+\S+\s+)?(?:account\s+\S+\s+)?password\s+\S+`), "logins of servers"},
	{"password", lazy.Regexp(`(?ms)^\s*\[pypi\].{0,400}^\s*password\s*[=:]\s*\S{8,}`), "a login of a package registry"},
	{"://", lazy.Regexp(`(?m)\A(?:https?://[^\s:/@]+:[^\s:/@]{8,}@[^\s/]+\S*\s*)+\z`), "logins of git"},
	{"oauth_token", lazy.Regexp(`(?m)^\s+oauth_token:\s*\S{20,}`), "a login"},
}

// assignment is a line of a list of variables.
var assignment = lazy.Regexp(`^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_.]*)\s*=\s*(.*?)\s*$`)

// secretName is the name of a variable that holds a secret.
var secretName = lazy.Regexp(`(?i)(?:^|_)(?:secret|token|password|passwd|pwd|pass|api_?key|access_?key|private_?key|credentials?|auth|dsn)(?:$|_)|(?:database|db|redis|mongo\w*|amqp|postgres)_?ur[il]$`)

// placeholder is a value that is no secret.
var placeholder = lazy.Regexp(`(?i)^$|^[<\[{$%].*|^(?:x{3,}|\*{3,}|\.{3,}|your|my|change|replace|todo|example|dummy|test|sample|none|null|true|false|secret$|password$|token$|insert|enter)|example\.(?:com|org)|^\d{1,5}$`)

// isEnvironment recognises a list of variables of which one holds a secret: nearly all lines are
// assignments or comments, as in no program.
func isEnvironment(b []byte) bool {
	if !bytes.ContainsRune(b, '=') {
		return false
	}
	lines, assigned, secret := 0, 0, false
	for line := range bytes.Lines(b) {
		text := strings.TrimSpace(string(line))
		if text == "" || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
			continue
		}
		if lines++; lines > 500 {
			return false
		}
		m := assignment().FindStringSubmatch(text)
		if m == nil {
			continue
		}
		assigned++
		value := strings.Trim(m[2], `"'`)
		if secretName().MatchString(m[1]) && len(value) >= 8 && !strings.ContainsAny(value, " (;") && !placeholder().MatchString(value) && !urlWithoutSecret(value) {
			secret = true
		}
	}
	return secret && assigned*10 >= lines*9
}

// urlWithoutSecret reports whether a value is an address without a password.
func urlWithoutSecret(value string) bool {
	_, rest, ok := strings.Cut(value, "://")
	if !ok {
		return false
	}
	user, _, has := strings.Cut(rest, "@")
	_, password, _ := strings.Cut(user, ":")
	return !has || password == "" || placeholder().MatchString(password)
}
