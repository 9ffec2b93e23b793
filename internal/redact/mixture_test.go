package redact_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"hermes/internal/redact"
)

// vocabulary has what the rules look for, whole and in parts.
var vocabulary = []string{
	"password", "PASSWORD", "pass", "token", "api_key", "DB_PASS", "name", "value", "key", "auth", "_authToken", "secret", "Pwd", "sig",
	"Authorization", "Cookie", "Set-Cookie", "Bearer", "Basic", "machine", "login", "default", "identified by", "is", "echo", "printf", "htpasswd", "sudo -S", "chpasswd",
	"mysql", "curl", "docker", "login", "sshpass", "-p", "-u", "-U", "-b", "--password", "--token", "-passin", "pass:", "--user", "-----", "-----BEGIN", " PRIVATE KEY-----",
	"-----END", " PUBLIC KEY-----", "LS0tLS1CRUdJTi", "BQUklWQVRFIEtFWS0tLS0tCk1JSUV2", "2d2d2d2d2d424547494e20", "5052495641544520", "4b4559", "Private-Lines", "Private-MAC",
	"=", ":", "=", ":", "=>", ":=", "==", "://", "//", "@", "?", "&", ";", ",", "|", "<", ">", "</", "/", "(", ")", "{", "}", "[", "]", "$", "%", "*", "#", "-", "_", ".", "...", "!",
	" ", " ", " ", " ", "\n", "\n", "\t", "\"", "\"", "'", "`", "\\n", "\\\"", "\\", "\\u0026", "\x1b[0m", "\x1b]0;t\x07", "\x1b", "\u200b", "\u00e9", "\x00", "\xff",
	"hunter2", "letmein", "bob", "root", "a", "1", "42", "correct horse", "x.example", "https", "postgres", "hooks.slack.com/services/", "localhost", "5432", "*",
	"sk-", "ghp_", "xoxb-", "eyJ", "AKIA", "whsec_", "MTIzNDU2Nzg5MDEyMzQ1Njc4", "abcDEF123456", "0123456789abcdef", "aB3dE6gH9jK2mN5pQ8sT1vW4", "123456789", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0",
	"open", "sesame", "open sesame", "open ses", "export", "env", "set", "password: |", "  ", "base64:",
	"$6$", "$2y$", "$", "setPassword(", "setApiKey(\"", "**", "mot de passe", "contraseña", "Kennwort", "variable \"", "default", "<key>", "</key>", "<string>", "xoxd-", "%2F", "abc8Q~", "~",
	".atlasv1.", "pat", ".webhook.office.com/webhookb2/", "-us12", "SK", "\n12|", "\n0000000 ", "\n00000000: ", "6f70 656e ", "2073 6573 616d 650a", "  open sesame", "706f 6e65 ", "\\!",
}

func mixture(rng *rand.Rand) string {
	var b strings.Builder
	for range rng.IntN(40) + 1 {
		word := vocabulary[rng.IntN(len(vocabulary))]
		for range 1 + rng.IntN(3)*rng.IntN(2) {
			b.WriteString(word)
		}
	}
	return b.String()
}

// TestStreamsOfMixturesYieldWhatTheWholeWould joins what the rules look for at
// random, and cuts it at random.
func TestStreamsOfMixturesYieldWhatTheWholeWould(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{"open sesame", "letmein letmein", "0123456789abcdef0123456789abcdef"}})
	rng := rand.New(rand.NewPCG(3, 4))
	const texts = 4000
	for range texts {
		text := mixture(rng)
		want := r.Text(text)
		most := 1 + rng.IntN(12)
		if got := streamed(r, text, func(left int) int { return 1 + rng.IntN(min(most, left)) }); got != want {
			t.Fatalf("a stream of %q:\n got %q\nwant %q", text, got, want)
		}
	}
}
