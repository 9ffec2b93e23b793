package redact_test

import (
	"bytes"
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"

	"hermes/internal/redact"
)

func streamed(r *redact.Redactor, text string, cut func(int) int) string {
	s := r.Stream()
	var b strings.Builder
	for len(text) > 0 {
		n := min(len(text), max(1, cut(len(text))))
		b.WriteString(s.Write(text[:n]))
		text = text[n:]
	}
	b.WriteString(s.Flush())
	return b.String()
}

// corpus has every rule in it, beside text that must stay.
var corpus = []string{
	"Say " + openAI + " and " + gitHub + "\nAuthorization: Bearer abcdef0123456789abcdef\nnext",
	"{\"output\":\"A=1\\nDEEP_SECRET=swordfish\\n\",\"api_key\": \"abc123def456\"}",
	"password: hunter2\npassword: must be long\nx-api-key: plainletters\n",
	"curl -d 'password=letmein&user=bob' postgres://bob:s3cret@db/x https://a.b/c?token=1 end",
	"-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----\nbot123456789:" + telegram + "/x",
	"sk-" + "proj-aB3dE6gH9\x1b[0mjK2mN5pQ8sT1vW4 \x1b]0;title\x07 caf\u00e9 \u200b " + jwt + " " + discord,
	"run --password hunter2 now; token := get(); const x = `a`; open sesame please, b3BlbiBzZXNhbWU= ok",
	"Authorization: Digest username=\"bob\", response=\"6629fae\"\nfoo = bar\nspring.db.password=x1",
}

func TestStreamYieldsWhatTheWholeWould(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{"open sesame"}})
	rng := rand.New(rand.NewPCG(1, 2))
	for _, text := range append(corpus, strings.Join(corpus, "\n")) {
		want := r.Text(text)
		for size := 1; size <= 12; size++ {
			if got := streamed(r, text, func(int) int { return size }); got != want {
				t.Fatalf("pieces of %d:\n got %q\nwant %q", size, got, want)
			}
		}
		for range 50 {
			if got := streamed(r, text, func(left int) int { return rng.IntN(left) + 1 }); got != want {
				t.Fatalf("random pieces:\n got %q\nwant %q", got, want)
			}
		}
	}
}

// TestStreamsAreMaskedAtEveryCut cuts every line of the two files in two, at every
// byte, and into single bytes.
func TestStreamsAreMaskedAtEveryCut(t *testing.T) {
	t.Parallel()
	r := redact.New(redact.Options{Known: []string{"open sesame", "hunter2hunter2", "-----BEGIN KNOWN KEY-----\nMIIEpAIBAAKCAQEA1234567890\nabcdefghijklmnop\n-----END KNOWN KEY-----"}})
	known := base64.StdEncoding.EncodeToString([]byte("x-----BEGIN KNOWN KEY-----\nMIIEpAIBAAKCAQEA1234567890\nabcdefghijklmnop\n-----END KNOWN KEY-----\n"))
	list := append(examples(secretLines), examples(honestLines)...)
	list = append(list, example{text: "a " + known[:76] + "\n" + known[76:] + " b"}, example{text: "x open sesam open sesame hunter2hunter hunter2hunter2"})
	list = append(list,
		example{text: "--password-----BEGIN :=xoxb-xoxb-xoxb- = PRIVATE KEY-----"}, example{text: "a:5432:password=hunter2:x"},
		example{text: "whsec_ABCDEFGHIJKLMNOPQRSTUV/LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2UUlCQURBTkJna3Foa2lHOXcw"})
	for i, e := range list {
		text := e.text + "\n" + list[(i*7+3)%len(list)].text + "\n"
		want := r.Text(text)
		for cut := range len(text) {
			s := r.Stream()
			if got := s.Write(text[:cut]) + s.Write(text[cut:]) + s.Flush(); got != want {
				t.Fatalf("cut at %d of %q:\n got %q\nwant %q", cut, text, got, want)
			}
		}
		for _, size := range []int{1, 2, 3, 7} {
			if got := streamed(r, text, func(int) int { return size }); got != want {
				t.Fatalf("pieces of %d of %q:\n got %q\nwant %q", size, text, got, want)
			}
		}
	}
}

func TestStreamShowsProseAtOnce(t *testing.T) {
	t.Parallel()
	s := redact.New(redact.Options{}).Stream()
	got := s.Write("The tests pass now. ")
	if got != "The tests pass now. " {
		t.Errorf("prose was kept back: %q", got)
	}
	if got = s.Write("Then the "); got != "Then the " {
		t.Errorf("prose was kept back: %q", got)
	}
}

func TestStreamHoldIsBounded(t *testing.T) {
	t.Parallel()
	s := redact.New(redact.Options{}).Stream()
	shown := 0
	blob := strings.Repeat("QUJD", 1<<10)
	for range 64 {
		shown += len(s.Write(blob))
	}
	if kept := 64*len(blob) - shown; kept > 16<<10 {
		t.Errorf("kept back %d bytes of one long word", kept)
	}

	s = redact.New(redact.Options{}).Stream()
	out := s.Write("DEEP_SECRET=\"")
	for range 7 {
		out += s.Write("swordfish" + strings.Repeat("y", 1000))
	}
	out += s.Write("\" done") + s.Flush()
	if want := "DEEP_SECRET=\"swordf...yyyy\" done"; out != want {
		t.Errorf("a long value: got %.80q", out)
	}
}

func TestWriterMasks(t *testing.T) {
	t.Parallel()
	var to bytes.Buffer
	w := redact.NewWriter(&to, nil)
	for _, piece := range []string{"log EXA_API", "_KEY=abc", "defgh", "ij\n"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatalf("Write: %d, %v", n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := to.String(), "log EXA_API_KEY=***\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzStream(f *testing.F) {
	for _, text := range corpus {
		f.Add(text, uint8(3))
	}
	r := redact.New(redact.Options{Known: []string{"open sesame"}})
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		want := r.Text(text)
		if len(text) > 2000 {
			return
		}
		if got := streamed(r, text, func(int) int { return int(size%64) + 1 }); got != want {
			t.Errorf("pieces of %d of %q:\n got %q\nwant %q", int(size%64)+1, text, got, want)
		}
	})
}

func code100KB() string {
	const snippet = `
func (s *Session) Submit(ctx context.Context, op Op) error {
	if s.closed.Load() { // a session that was closed takes nothing more
		return fmt.Errorf("submit to %q: %w", s.id, ErrClosed)
	}
	token := op.Token()
	select {
	case s.inbox <- op:
		s.count += len(op.Text) * 2
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
var names = map[string]string{"key": "value", "other": "thing"} // see https://example.com/a?b=c
`
	return strings.Repeat(snippet, 100<<10/len(snippet)+1)[:100<<10]
}

func BenchmarkCode100KB(b *testing.B) {
	r := redact.New(redact.Options{Known: []string{"open sesame, friend", gitHub, openAI}})
	text := code100KB()
	quoted := strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(text)
	for name, text := range map[string]string{"plain": text, "json": quoted} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}

// BenchmarkMadeToBeSlow has texts in which every rule begins again and again.
func BenchmarkMadeToBeSlow(b *testing.B) {
	for _, piece := range []string{"a_token=", "Authorization:", "a://", "sk-", "eyJ-", "-----BEGIN PRIVATE KEY-----", "--token a", "Bearer ", "1234567:", "\x1b[", "\\"} {
		text := strings.Repeat(piece, 100<<10/len(piece))
		b.Run(strings.TrimSpace(piece), func(b *testing.B) {
			for b.Loop() {
				redact.Text(text)
			}
		})
	}
}
