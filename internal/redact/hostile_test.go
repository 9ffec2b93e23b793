package redact

import (
	"strings"
	"testing"

	"hermes/internal/race"
)

// hostile are texts in which every rule begins again and again, or reads far.
var hostile = map[string]string{
	"key prefix":             "sk-",
	"key prefixes, joined":   "sk-proj-ghp_xoxb-",
	"keys, almost":           "sk-abcdefghijk",
	"keys of words":          "sk-abcdefghij-",
	"open-ended keys":        "sntrys_/whsec_+",
	"web tokens":             "eyJ",
	"web tokens, dotted":     "eyJhbGciOiJIUzI1.a.",
	"web tokens, whole":      "eyJhbGciOiJIUzI1.abcd",
	"bot tokens":             "MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.",
	"assignments":            "password=",
	"assignments, colons":    "password:",
	"assignments, commas":    "password=x,",
	"assignments, not ended": "a_token=(",
	"values that are code":   "password=f(),",
	"quotes":                 `password="`,
	"quotes of other kinds":  "password=\"'`",
	"forms":                  "token=1&",
	"forms with values":      "token=q1w2e3&",
	"queries":                "?token=1&x=2",
	"queries with values":    "?token=q1w2e3&x=2",
	"arrows":                 "password=>",
	"semicolons":             "a;b ;",
	"separators":             "://::@@",
	"separators with blanks": "a  :  ",
	"equals signs":           "=",
	"addresses":              "a://",
	"addresses, users":       "a://b:c@",
	"addresses of the web":   "http://a@",
	"webhooks":               "https://hooks.slack.com/services/",
	"elements":               "<password>",
	"named values":           `name="token" `,
	"headers":                "Authorization:",
	"headers with quotes":    `Authorization: "`,
	"cookies":                "Cookie: a=b; ",
	"blocks":                 "-----BEGIN ",
	"private blocks":         "-----BEGIN PRIVATE KEY-----",
	"private blocks, ended":  "-----BEGIN PRIVATE KEY----------END",
	"encoded blocks":         "LS0tLS1CRUdJTi",
	"encoded private blocks": "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk",
	"hex blocks":             "2d2d2d2d2d424547494e20",
	"block scalars":          "password: |\n",
	"block scalars, deep":    "password: |\n  password: |\n",
	"options":                "--token a",
	"options in a row":       "--token ",
	"short options":          "-p ",
	"programs":               "mysql -p ",
	"programs with a pipe":   "curl -u|",
	"logins":                 "docker -p x ",
	"lists of arguments":     `"-u", `,
	"echoes":                 "echo ",
	"echoes into a pipe":     "echo|",
	"machines":               "machine ",
	"machines with logins":   "machine a login b ",
	"htpasswd":               "htpasswd -b ",
	"spoken passwords":       "password is ",
	"statements":             "identified by '",
	"putty keys":             "Private-Lines: 1",
	"bearers":                "Bearer ",
	"digits":                 "1234567:",
	"long digits":            "1",
	"password files":         "\na:1234:",
	"hex":                    "0123456789abcdef",
	"base64":                 "QUJDREVGR0hJSktM",
	"base64 with marks":      "QUJDREVGR0hJSktM+/",
	"base64 in lines":        strings.Repeat("QUJD", 19) + "\n",
	"dashes":                 "-",
	"dots":                   ".",
	"underlines":             "_",
	"blanks":                 " ",
	"names":                  "a_b-c.",
	"spaced names":           "api_key ",
	"backslashes":            `\`,
	"escapes":                `\n\"`,
	"terminal sequences":     "\x1b[",
	"titles":                 "\x1b]",
	"invisible":              "\u200b",
	"not UTF-8":              "\xe2",
	"known, almost":          "open sesam",
	"known, broken lines":    "b3BlbiBz\n",
	"known, numbered lines":  "open sesame, f\n12|",
	"dumps":                  "00000000: 6f70 656e 2073 6573 616d 652c 2066 7269  open sesame, fri\n",
	"dumps without text":     "0000000 706f 6e65 7320 7365 6d61 2c65 6620 6972\n",
	"dumps in narrow places": "0000000   o   p   e   n       s   e   s   a   m   e\n",
	"offsets":                "00000000: ",
	"calls":                  `setPassword("`,
	"calls with blanks":      "x.setPassword(  ",
	"defaults":               `default = "x" `,
	"defaults of variables":  `variable "password" default = `,
	"property lists":         "<key>password</key><string>",
	"hashes":                 "$6$abcdefgh",
	"hashes without an end":  "$6$$6$",
	"tildes":                 "abc8Q~",
	"hooks of Teams":         "https://a.webhook.office.com/webhookb2/",
	"stars":                  "**Password:** ",
	"other words":            "mot de passe : ",
	"names in a line":        "\"password\":\n",
	"dotted keys":            "patabcdefghijklmn.0123456789abcdef",
	"offsets in lines":       "00000000\n00000000:\n",
	"backslashes with marks": `\@\ `,
	"ordinary":               "The quick brown fox jumps over the lazy dog, 12 times: see https://example.org/a?b=c.\n",
	"code":                   "func (s *Session) Submit(ctx context.Context, op Op) error {\n\ttoken := op.Token()\n\treturn s.run(ctx, token)\n}\n",
	"log":                    "2026-11-22T12:16:44.123Z INFO request done method=GET path=/v1/models status=200 took=12ms session=20261122_1216\n",
}

var knownForTests = []string{"open sesame, friend", "open sesame, fiend", "hunter2hunter2hunter2"}

// work returns how many bytes the rules read in a text of about that size.
func work(r *Redactor, piece string, size int) int {
	text := strings.Repeat(piece, size/len(piece)+1)
	v := newView(text, true)
	p := pass{s: v.text, final: true, settled: len(v.text), back: len(v.text), known: r.known.Load()}
	p.run(0)
	return v.steps + p.steps
}

// sizes are those of the two texts whose work is compared.
func sizes(small int) (int, int) {
	small /= race.Rounds(1, 4)
	return small, 4 * small
}

func TestWorkGrowsAsTheText(t *testing.T) {
	t.Parallel()
	const most = 100 // bytes read for one of the text
	small, large := sizes(256 << 10)
	r := New(Options{Known: knownForTests})
	for name, piece := range hostile {
		before, after := work(r, piece, small), work(r, piece, large)
		if float64(after) > 4.2*float64(before)+float64(large)/2 {
			t.Errorf("%s: %d steps for %d KB, %d for %d KB", name, before, small>>10, after, large>>10)
		}
		if after > most*large {
			t.Errorf("%s: %d steps for each byte", name, after/large)
		}
		t.Logf("%-24s %6.2f steps for each byte", name, float64(after)/float64(large))
	}
}

// TestWorkOfStreamsGrowsAsTheText writes the same texts in pieces as models send them.
func TestWorkOfStreamsGrowsAsTheText(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	const piece, most = 24, 500 // bytes read for one of the text
	small, large := sizes(64 << 10)
	r := New(Options{Known: knownForTests})
	streamed := func(text string) int {
		s := r.Stream()
		for at := 0; at < len(text); at += piece {
			s.Write(text[at:min(len(text), at+piece)])
		}
		return s.steps
	}
	for name, repeated := range hostile {
		text := strings.Repeat(repeated, large/len(repeated)+1)
		before, after := streamed(text[:small]), streamed(text)
		// The context before a place is short at the beginning, and long values are
		// read in parts. Work in proportion to the square would be sixteen times.
		if after > 8*before || after > most*large {
			t.Errorf("%s: %d steps for each of %d KB, %d for each of %d KB", name, before/small, small>>10, after/large, large>>10)
		}
		t.Logf("%-24s %6d steps for each byte", name, after/large)
	}
}

// TestOrdinaryTextHardlyAllocates has much of what looks like a name with its value.
func TestOrdinaryTextHardlyAllocates(t *testing.T) {
	const names = "MAX_TOKENS=4096\nPATH=/usr/local/bin:/usr/bin\nmax_tokens: 12\nPRIMARY_KEY=id\nKEYBOARD=us\n<A HREF=\"x\" ACCESSKEY=\"P\">\n"
	text := strings.Repeat(hostile["ordinary"]+hostile["code"]+hostile["log"]+names, 100)
	r := New(Options{Known: knownForTests})
	if got, most := testing.AllocsPerRun(5, func() { r.Text(text) }), float64(len(text)>>7); got > most {
		t.Errorf("%g allocations for %d KB, want at most %g", got, len(text)>>10, most)
	}
}
