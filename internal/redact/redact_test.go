package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hermes/internal/redact"
)

// Made-up keys, put together here so that no scanner takes them for real ones.
var (
	openAI   = "sk-" + "proj-aB3dE6gH9jK2mN5pQ8sT1vW4"
	gitHub   = "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a"
	slack    = "xo" + "xb-123456789012-abcDEF123ghi"
	jwt      = "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"
	amazon   = "AK" + "IAIOSFODNN7EXAMPLQ"
	telegram = "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0"
	discord  = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.abcdefghijklmnopqrstuvwxyz0123"
)

func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, secret, keeps string }{
		{"key prefix", "use " + openAI + " now", openAI, "use sk-pro...1vW4 now"},
		{"key after colon", "key:" + gitHub + ".", gitHub, "key:ghp_16..." + gitHub[len(gitHub)-4:] + "."},
		{"slack", "(" + slack + ")", slack, "(xoxb-1...3ghi)"},
		{"amazon", amazon, amazon, "AKIAIO"},
		{"discord bot", "token " + discord, discord, "MTIzND..."},
		{"jwt", "Cookie " + jwt, jwt, "eyJhbG..."},
		{"long jwt", "x eyJhbGciOiJIUzI1NiJ9." + strings.Repeat("a1", 2000) + ".dozjgNryP4J3 y", "a1a1a1", "x eyJhbG...P4J3 y"},
		{"bearer", "Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef", "Authorization: Bearer abcdef...cdef"},
		{"short bearer", "Authorization: Bearer opaque", "opaque", "Authorization: Bearer ***"},
		{"basic", "authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpw", "authorization: Basic ***"},
		{"own scheme", "Authorization: Klingon qaplaHqaplaH", "qaplaHqaplaH", "Authorization: Klingon ***"},
		{"no scheme", "Authorization: 0123abcd0123", "0123abcd0123", "Authorization: ***"},
		{"digest", `Authorization: Digest username="bob", response="6629fae49393a05397450978507c4ef1"`, "6629fae", "Authorization: Digest"},
		{"curl header", `curl -H "Authorization: Bearer abc.def-123" https://x.y`, "abc.def-123", `***" https://x.y`},
		{"json header", `{"Authorization": "Bearer abcdefgh"}`, "abcdefgh", `{"Authorization": "Bearer ***"}`},
		{"x-api-key", "x-api-key: plainlettersonly", "plainlettersonly", "x-api-key: ***"},
		{"x-api-key in curl", "curl -H 'X-Api-Key: plainlettersonly' u", "plainlettersonly", "'X-Api-Key: ***' u"},
		{"goog key", "> x-goog-api-key: abcdefghij", "abcdefghij", "> x-goog-api-key: ***"},
		{"env", "EXA_API_KEY=abcdefgh", "abcdefgh", "EXA_API_KEY=***"},
		{"env export", `export MY_TOKEN="abcd efgh1"; ls`, "", `export MY_TOKEN="`},
		{"env quoted", "DB_PASSWORD='hunter2' ./run", "hunter2", "DB_PASSWORD='***' ./run"},
		{"env in yaml", "  OPENAI_API_KEY: abc123def456", "abc123def456", "  OPENAI_API_KEY: ***"},
		{"env plain key", "FAL_KEY=0123456789abcdef0123", "0123456789abcdef0123", "FAL_KEY=012345...0123"},
		{"env numbers", "ADMIN_PASSWORD=12345", "12345", "ADMIN_PASSWORD=***"},
		{"env among others", "A=1\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG\nB=2", "wJalrX/", "A=1\nAWS_SECRET_ACCESS_KEY=wJalrX...DENG\nB=2"},
		{"dotted", "spring.datasource.password=sesame", "sesame", "spring.datasource.password=***"},
		{"yaml", "db:\n  password: hunter2\n  port: 1", "hunter2", "  password: ***\n  port: 1"},
		{"yaml list", "- api_key: abc123def", "abc123def", "- api_key: ***"},
		{"yaml quoted", "client_secret: \"s3cr3t\"", "s3cr3t", `client_secret: "***"`},
		{"toml", `api_key = "0123456789abcdef"`, "0123456789abcdef", `api_key = "***"`},
		{"json", `{"apiKey": "abc123def", "n": 1}`, "abc123def", `{"apiKey": "***", "n": 1}`},
		{"json password", `{"password":"correcthorse"}`, "correcthorse", `{"password":"***"}`},
		{"json in json", `{"output":"{\"refresh_token\": \"abc123def456\"}\n"}`, "abc123def456", `\"***\"}\n`},
		{"env in json", `{"output":"HOME=/root\nDEEP_SECRET=swordfish\nA=b"}`, "swordfish", `HOME=/root\nDEEP_SECRET=***\nA=b`},
		{"yaml in json", `{"content":"db:\n  password: hunter2\n"}`, "hunter2", `password: ***\n`},
		{"form", "grant_type=password&client_secret=abcdef&x=1", "abcdef", "grant_type=password&client_secret=***&x=1"},
		{"form first", "curl -d 'password=letmein&user=bob'", "letmein", "'password=***&user=bob'"},
		{"telegram bot", "bot123456789:" + telegram, telegram, "bot123456789:***"},
		{"telegram url", "https://api.telegram.org/bot123456789:" + telegram + "/getMe", telegram, "/bot123456789:***/getMe"},
		{"postgres", "postgres://bob:s3cret@db:5432/app", "s3cret", "postgres://bob:***@db:5432/app"},
		{"mongo", "mongodb+srv://u:p%40ss@h/x", "p%40ss", "mongodb+srv://u:***@h/x"},
		{"redis", "redis://:hunter2@cache:6379", "hunter2", "redis://:***@cache:6379"},
		{"dsn", "host=db user=bob password=hunter2 port=1", "hunter2", "password=*** port=1"},
		{"token in url", "https://" + gitHub + "@github.com/a/b", gitHub, "@github.com/a/b"},
		{"unknown token in url", "https://0a1b2c3d4e5f6a7b8c9d@git.example.org/r", "0a1b2c3d4e5f6a7b8c9d", "@git.example.org/r"},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----", "MIIEow", "-----BEGIN RSA PRIVATE KEY-----\n***\n-----END"},
		{"split by colour", "sk-" + "proj-aB3dE6gH9\x1b[0mjK2mN5pQ8sT1vW4", "gH9", "sk-pro...1vW4"},
		{"split by zero width", "gh" + "p_16C7e42F292c\u200b6912E7710c838347Ae", "7710c", "ghp_16...47Ae"},
		{"split by bell", "EXA_API_KEY=abcd\x07efgh12", "abcd", "EXA_API_KEY=***"},
		{"option", "mysql --password hunter2 -h db", "hunter2", "--password *** -h db"},
		{"flag", "tool --password=hunter2 run", "hunter2", "--password=*** run"},
	}
	for _, tt := range tests {
		got := redact.Text(tt.text)
		if tt.secret != "" && strings.Contains(got, tt.secret) {
			t.Errorf("%s: %q still shows in %q", tt.name, tt.secret, got)
		}
		if !strings.Contains(got, tt.keeps) {
			t.Errorf("%s: got %q, want it to keep %q", tt.name, got, tt.keeps)
		}
		if again := redact.Text(got); again != got {
			t.Errorf("%s: masking twice turns %q into %q", tt.name, got, again)
		}
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"const token = await getToken();",
		"api_key = config.get('api_key')",
		`api_key = os.getenv("OPENAI_API_KEY")`,
		"before_tokens = response.usage.prompt_tokens",
		"self.password = password",
		"func New(token string, secret []byte) *Client {",
		"token := r.Header.Get(\"Authorization\")",
		"if password == stored.password { return nil }",
		"connect(password=password, token=token)",
		"type T struct { Token: token, Secret: secret }",
		"const { secret } = await load();",
		"apiKey: process.env.OPENAI_API_KEY,",
		"TOKEN = iota",
		"use --token to pass it, or --password with a file; see --api-key-file key1.txt",
		"PWD=/tmp/x OLDPWD=/home",
		"SYS_MEMFD_SECRET            = 447",
		"IFLA_INET6_TOKEN = 0x7",
		"PATH_PASSWD = \"/etc/passwd\"",
		"permissions:\n  id-token: write",
		`"Authorization": true,`,
		`"Authorization": req.Header["Proxy-Authorization"],`,
		`PublicKey: "04ead218590119e8876b29146ff89ca61770c4ed",`,
		`"newKeyFromSeed": "newKeyFromSeed1024",`,
		"TOKEN_EOF = 5",
		"MAX_TOKENS=4096",
		"TOKEN_LIMIT=128000",
		"PASSWORD_FILE=/run/secrets/db",
		"SSH_AUTH_SOCK=/tmp/ssh-abc/agent.42",
		"PRIMARY_KEY=id",
		"OPENAI_API_KEY=$MY_KEY",
		"OPENAI_API_KEY=${MY_KEY}",
		"OPENAI_API_KEY=<your key>",
		"OPENAI_API_KEY=your-api-key-here",
		`{"token": token, "n": 2}`,
		`{"token": "hello", "id": 7}`,
		`{"password": {"type": "string"}}`,
		`{"password": "Forgot your password?"}`,
		"token: string;",
		"password: str",
		"password: ${{ secrets.DB }}",
		"secrets: inherit",
		"The password: it must be long. Use a token: any will do.",
		"Password: must be 8 characters",
		"Authorization: required for all requests to the API",
		"Authorization: Bearer $TOKEN",
		"Authorization: Bearer <token>",
		"`Authorization: Bearer ${token}`",
		"https://example.com/cb?code=abc123&state=xyz&token=q1w2e3r4t5y6",
		"https://example.com/?q=password&page=2",
		"https://user@example.com/path",
		"git@github.com:owner/repo.git",
		"http://localhost:8080/v1",
		"ping <@123456789012345678> and <#987654321098765432>",
		"sk-abc and sk-short and ghp_short",
		"class sk-cube-grid sk-circle-fade-dot",
		"from hf_hub_download import hf_hub_url",
		"npm_config_user_agent and npm_lifecycle_event",
		"task-based key-value secret_santa",
		"12:30:45 and 2024:1",
		"1234567890:shorttail",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"postgres://localhost:5432/app",
		"postgres://bob:${PASS}@db/app",
		`printf("%s\n", token)`,
		`C:\new\token=file`,
		"the author: Bob",
		"eyJhbGciOiJIUzI1NiJ9",
		"OPENAI_API_KEY=sk-pro...1vW4",
		"",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("got %q, want %q untouched", got, text)
		}
	}
}

func TestKnownValuesAreMaskedInEveryForm(t *testing.T) {
	t.Parallel()
	const secret = `open "sesame" & more/ways?`
	r := redact.New(redact.Options{Known: []string{secret, "tiny"}})
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for name, form := range map[string]string{
		"raw":           secret,
		"hex":           hex.EncodeToString([]byte(secret)),
		"upper hex":     strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"query":         url.QueryEscape(secret),
		"path":          url.PathEscape(secret),
		"small escapes": strings.ToLower(url.QueryEscape(secret)),
		"all escaped":   "%" + strings.TrimSuffix(strings.ToUpper(regexp.MustCompile("..").ReplaceAllString(hex.EncodeToString([]byte(secret)), "$0%")), "%"),
		"json":          string(quoted[1 : len(quoted)-1]),
		"base64":        base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 of two": base64.StdEncoding.EncodeToString([]byte("me:" + secret + "!")),
		"base64 url":    base64.URLEncoding.EncodeToString([]byte("x" + secret)),
	} {
		got := r.Text("a" + form + "z")
		if middle := form[len(form)/3 : 2*len(form)/3]; strings.Contains(got, middle) || !strings.Contains(got, "***") {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := r.Text("a tiny word"); got != "a tiny word" {
		t.Errorf("a value that is too short was masked: %q", got)
	}
	r.Add("refreshed-value")
	if got := r.Text("x refreshed-value y"); got != "x *** y" {
		t.Errorf("added value: got %q", got)
	}
}

func TestTheLongestKnownValueIsMasked(t *testing.T) {
	t.Parallel()
	for _, known := range [][]string{{"sesame", "sesame-2"}, {"open sesame friend", "open sesame friend and neighbour"}} {
		for range 2 {
			if got := redact.New(redact.Options{Known: known}).Text("x " + known[0] + " " + known[1] + " y"); got != "x *** *** y" {
				t.Errorf("%q: got %q", known, got)
			}
			slices.Reverse(known)
		}
	}
}

// TestAKnownValueFromAFileMayEndWithALineBreak as editors and commands leave it.
func TestAKnownValueFromAFileMayEndWithALineBreak(t *testing.T) {
	t.Parallel()
	if got := redact.New(redact.Options{Known: []string{"open sesame, friend\n"}}).Text("x open sesame, friend y"); got != "x *** y" {
		t.Errorf("got %q", got)
	}
}

// TestNothingHiddenByOneRuleIsShownByAnother has known values within the values of
// names, and at the beginning of them.
func TestNothingHiddenByOneRuleIsShownByAnother(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{"letmein-letmein"}})
	for text, want := range map[string]string{
		"API_KEY=abcdef0123letmein-letmein9876543210 x": "API_KEY=*** x",
		"DB_PASSWORD=letmein-letmein-and-more x":        "DB_PASSWORD=*** x",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestAPasswordOfWordsShowsNoneOfThem(t *testing.T) {
	t.Parallel()
	if got, want := redact.Text(`passphrase: "correct horse battery staple"`), `passphrase: "***"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// keyFile is a made-up key, as a file has it.
var keyFile = "-----BEGIN " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCu9kz4AKpEJJ1o\n", 20) + "-----END " + "PRIVATE KEY-----\n"

// wrap breaks a text into lines.
func wrap(text string, width int) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	return b.String() + text
}

// TestEncodedKnownValuesAreMaskedAtEveryAlignment puts known values into longer
// texts, encodes the whole, and breaks it into lines as programs do.
func TestEncodedKnownValuesAreMaskedAtEveryAlignment(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{
		"password": "tr0ub4dor&3-long", "key": "sk-" + "proj-aB3dE6gH9jK2mN5pQ8sT1vW4", "file": keyFile, "no known form": strings.Repeat("not-a-key-by-its-form/", 30),
	} {
		r := redact.New(redact.Options{Known: []string{secret}})
		for before := range 4 {
			text := []byte(strings.Repeat("a", before) + secret + "zz")
			for encoding, encoded := range map[string]string{
				"base64": base64.StdEncoding.EncodeToString(text), "base64 without padding": base64.RawStdEncoding.EncodeToString(text),
				"base64 for addresses": base64.URLEncoding.EncodeToString(text), "base64 for addresses without padding": base64.RawURLEncoding.EncodeToString(text),
				"hex": hex.EncodeToString(text), "upper hex": strings.ToUpper(hex.EncodeToString(text)), "query": url.QueryEscape(string(text)), "path": url.PathEscape(string(text)),
			} {
				for _, width := range []int{0, 60, 64, 76} {
					shown := encoded
					if width > 0 && (strings.HasPrefix(encoding, "base64") || strings.HasSuffix(encoding, "hex")) {
						shown = wrap(encoded, width)
					}
					got := r.Text("x " + shown + " y")
					if part := shows(strings.ReplaceAll(got, "\n", ""), middle(encoded)); strings.Trim(part, "-%0A") != "" {
						t.Errorf("%s as %s in lines of %d, %d bytes before: %q shows %q", name, encoding, width, before, got, part)
					}
				}
			}
		}
	}
}

// middle is an encoded text without the ends, which mix with the bytes around.
func middle(encoded string) string { return encoded[7 : len(encoded)-7] }

// TestKeyFilesAreMaskedInBase64 needs no known value: the form of the file is enough.
func TestKeyFilesAreMaskedInBase64(t *testing.T) {
	t.Parallel()
	for before := range 4 {
		text := []byte(strings.Repeat("\n", before) + keyFile)
		for _, encoded := range []string{base64.StdEncoding.EncodeToString(text), base64.RawURLEncoding.EncodeToString(text), hex.EncodeToString(text)} {
			for _, width := range []int{1 << 20, 60, 64, 76} {
				got := redact.Text("x\n" + wrap(encoded, width) + "\ny")
				// The last line may stay: it is the end mark of the file.
				if part := shows(strings.ReplaceAll(got, "\n", ""), encoded[100:len(encoded)-60]); part != "" || !strings.HasSuffix(got, "\ny") {
					t.Errorf("%d before, in lines of %d: %.200q shows %q", before, width, got, part)
				}
			}
		}
	}
	certificate := base64.StdEncoding.EncodeToString([]byte(strings.ReplaceAll(keyFile, "PRIVATE KEY", "CERTIFICATE")))
	if got := redact.Text(certificate); got != certificate {
		t.Errorf("a certificate was masked: %.80q", got)
	}
}

func TestLinesOfAKnownFileAreMasked(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{keyFile}})
	line := strings.Split(keyFile, "\n")[3]
	if got := r.Text("     4\t" + line + "\n"); strings.Contains(got, line[10:]) {
		t.Errorf("got %q", got)
	}
	if marks := "a file ends with -----END PRIVATE KEY-----\n"; r.Text(marks) != marks {
		t.Errorf("the mark of a key is masked: %q", r.Text(marks))
	}
}

func TestURLCredentialsAreMaskedOnRequest(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{URLCredentials: true})
	got := r.Text("https://bob:pw@x.org/a?token=abc&page=2 done")
	if want := "https://bob:***@x.org/a?token=***&page=2 done"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSecretName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "clientSecret": true, "db.password": true, "x-auth-token": true, "AWS_SECRET_ACCESS_KEY": true,
		"HTTPToken": true, "GITHUB_TOKEN2": true, "Authorization": true,
		"max_tokens": false, "TOKEN_URL": false, "author": false, "secretName": false, "PATH": false, "primary_key": false, "": false,
		"PWD": false, "OLDPWD": false, "DB_PWD": true, "pwd": true,
	} {
		if got := redact.SecretName(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
