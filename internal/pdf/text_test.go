package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/pdf"
	"hermes/internal/race"
)

func mustRead(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// The file was printed by a browser from testdata/page.html.
func TestTextOfAPrintedPage(t *testing.T) {
	t.Parallel()
	got, cut, err := pdf.Text(t.Context(), mustRead(t, "chromium.pdf"), 1<<20)
	want := `--- page 1
Tides at the harbour
The office measures the level every six minutes. “High
water” is the highest level between two low ones, first of
all at the fish market, and then at the offices of the ferry.

Levels are in metres.
Times are local.

Day  High Low
Monday  4.12  0.87
Tuesday 4.31  0.64

level --place market
  --since monday
--- page 2
Notes
Zażółć gęślą jaźń. Цены в евро: 12 €.

שלום עולם, הגאות (בבוקר) ב-12 במאי 2024.
`
	if diff := cmp.Diff(want, got); diff != "" || cut || err != nil {
		t.Errorf("%s, cut %v, %v", diff, cut, err)
	}
}

func TestEncryptedFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"encrypted.pdf", "encrypted-rc4.pdf"} {
		got, _, err := pdf.Text(t.Context(), mustRead(t, name), 1<<20)
		if err != nil || !strings.HasPrefix(got, "Report of the harbour office\n") || !strings.Contains(got, "41,200") {
			t.Errorf("%s: %.100q, %v", name, got, err)
		}
	}
	for _, name := range []string{"password.pdf", "password-rc4.pdf"} {
		if got, _, err := pdf.Text(t.Context(), mustRead(t, name), 1<<20); err != pdf.ErrPassword || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// made returns a file with these objects, from number 1 on. The first is the catalog.
func made(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b.WriteString("trailer\n<</Root 1 0 R>>\n%%EOF\n")
	return b.Bytes()
}

// stream returns a stream with packed content.
func stream(dict, content string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(content))
	_ = z.Close()
	return fmt.Sprintf("<<%s /Filter /FlateDecode /Length %d>>\nstream\n%s\nendstream", dict, b.Len(), b.String())
}

const (
	catalog = "<</Type /Catalog /Pages 2 0 R>>"
	tree    = "<</Type /Pages /Kids [3 0 R] /Count 1>>"
	aPage   = "<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <</F 5 0 R>> /XObject <</X 6 0 R>>>>>>"
	aFont   = "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>"
	picture = "<</Type /XObject /Subtype /Image /Width 1 /Height 1 /Length 1>>\nstream\nx\nendstream"
)

// content returns a file whose one page has this content.
func content(operators string) []byte {
	return made(catalog, tree, aPage, stream("", operators), aFont, picture)
}

func TestContent(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"BT /F 12 Tf 50 700 Td (one) Tj 0 -14 Td (two) Tj ET":                         "one\ntwo\n",
		"BT /F 12 Tf 50 700 Td (one) Tj 0 -40 Td (two) Tj ET":                         "one\n\ntwo\n",
		"BT /F 12 Tf 50 700 Td [(wo) 20 (rd) -300 (next)] TJ ET":                      "word next\n",
		"BT /F 12 Tf 12 TL 50 700 Td (a) Tj (b) ' T* (c) Tj ET":                       "a\nb\nc\n",
		"BT /F 12 Tf 50 700 Td (\\050\\344\\) \\\\) Tj ET":                            "(ä) \\\n",
		"BT /F 12 Tf 50 700 Td <48 69> Tj ET":                                         "Hi\n",
		"q 2 0 0 2 0 0 cm BT /F 12 Tf 50 100 Td (a) Tj ET Q BT /F 9 Tf 9 9 Td (b) Tj": "a\n\nb\n",
		"BT /F 12 Tf 50 700 Td (shown) Tj 0 900 Td (outside) Tj ET":                   "shown\n",
		"BT /F 0.1 Tf 50 700 Td (too small) Tj /F 9 Tf (shown) Tj ET":                 "shown\n",
		"BT /F 12 Tf 3 Tr 50 700 Td (invisible) Tj 0 Tr 0 -14 Td (shown) Tj ET":       "shown\n",
		"/X Do BT /F 12 Tf 3 Tr 50 700 Td (text of the scan) Tj ET":                   "text of the scan\n",
		"BI /W 1 /H 1 ID (BT) EI BT /F 12 Tf 50 700 Td (after) Tj ET":                 "after\n",
		"BT /F 12 Tf 0 1 -1 0 300 300 Tm (up) Tj ET":                                  "up\n",
	} {
		got, cut, err := pdf.Text(t.Context(), content(in), 1000)
		if got != want || cut || err != nil {
			t.Errorf("%s\n got %q, cut %v, %v\nwant %q", in, got, cut, err, want)
		}
	}
}

func TestFilesWithoutText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"a scan":                 {content("/X Do"), pdf.ErrNoText},
		"invisible text, alone":  {content("BT /F 12 Tf 3 Tr 50 700 Td (hidden order) Tj ET"), pdf.ErrNoText},
		"no PDF":                 {[]byte("hello"), pdf.ErrNotPDF},
		"nothing":                {nil, pdf.ErrNotPDF},
		"a header":               {[]byte("%PDF-1.4\n"), pdf.ErrNotPDF},
		"no pages":               {made("<</Type /Catalog>>"), pdf.ErrNotPDF},
		"numbers where it names": {made("1", "2"), pdf.ErrNotPDF},
	} {
		if got, _, err := pdf.Text(t.Context(), c.raw, 1000); err != c.want || got != "" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestADamagedFileIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	raw := content("BT /F 12 Tf 50 700 Td (one) Tj ET")
	for name, damaged := range map[string][]byte{
		"no trailer":   raw[:bytes.Index(raw, []byte("trailer"))],
		"wrong length": bytes.Replace(raw, []byte("/Length "), []byte("/Length 9"), 1),
		"no tree":      bytes.Replace(raw, []byte("/Kids"), []byte("/Kins"), 1),
		"cut":          raw[:bytes.LastIndex(raw, []byte("6 0 obj"))],
	} {
		if name == "no trailer" || name == "no tree" {
			damaged = bytes.ReplaceAll(damaged, []byte("/Type /Pages"), []byte("/Type /Pagez"))
		}
		if got, _, err := pdf.Text(t.Context(), damaged, 1000); got != "one\n" && !strings.Contains(got, "one\n") || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	changed := append(raw, []byte("4 0 obj\n"+stream("", "BT /F 12 Tf 50 700 Td (changed) Tj ET")+"\nendobj\n")...)
	if got, _, err := pdf.Text(t.Context(), changed, 1000); got != "changed\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTheTextIsBounded(t *testing.T) {
	t.Parallel()
	got, cut, err := pdf.Text(t.Context(), content("BT /F 12 Tf 50 700 Td "+strings.Repeat("(w\xf6rter) Tj ", 1000)+"ET"), 101)
	if len(got) > 101 || !cut || err != nil || !utf8.ValidString(got) || !strings.HasPrefix(got, "wörter") {
		t.Errorf("%d bytes, cut %v, %v", len(got), cut, err)
	}
}

// Each of these would hang, end the program or fill the memory in a reader without bounds.
func TestHostileFiles(t *testing.T) {
	race.Skip(t)
	var rings []string
	for i := range 3000 {
		rings = append(rings, fmt.Sprintf("<</Length %d 0 R>>\nstream\nx\nendstream", i+7))
	}
	big := strings.Repeat("\x00", 40<<20)
	shown := "BT /F 12 Tf 50 700 Td (x) Tj ET "
	for name, raw := range map[string][]byte{
		"a page tree in a circle":      made(catalog, "<</Type /Pages /Kids [2 0 R 2 0 R] /Count 9>>"),
		"two trees in a circle":        made(catalog, "<</Type /Pages /Kids [3 0 R 3 0 R]>>", "<</Type /Pages /Kids [2 0 R 2 0 R]>>"),
		"direct kids without an end":   made(catalog, "<</Kids "+strings.Repeat("[<</Kids ", 5000)),
		"a reference to itself":        made("1 0 R", "2 0 R"),
		"an object stream in itself":   made(catalog, "<</Type /ObjStm /N 1 /First 4 /Length 2 0 R>>\nstream\n2 0 <</Kids [2 0 R]>>\nendstream"),
		"a table of many objects":      []byte("%PDF-1.5\n1 0 obj\n<</Type /XRef /W [1 9 9] /Index [0 4000000000] /Size 4000000000 /Root 1 0 R>>\nstream\nx\nendstream\nendobj\n"),
		"a large object number":        []byte("%PDF-1.5\n4294967295 0 obj\n<</Type /Catalog>>\nendobj\nxref\n0 99999999999\ntrailer\n<</Size 99999999999 /Root 4294967295 0 R>>\n"),
		"lengths that refer in a row":  made(append([]string{catalog, tree, aPage, stream("", shown), aFont, picture}, rings...)...),
		"nested lists":                 content(strings.Repeat("[", 1_000_000) + shown),
		"nested dictionaries":          made(catalog, strings.Repeat("<</A ", 500_000)),
		"a form that draws itself":     made(catalog, tree, aPage, stream("", "/X Do"), aFont, stream("/Type /XObject /Subtype /Form /Resources <</XObject <</X 6 0 R>>>>", strings.Repeat("/X Do ", 1000))),
		"a stream that unpacks to GBs": made(catalog, tree, strings.Replace(aPage, "4 0 R", "["+strings.Repeat("4 0 R ", 2000)+"]", 1), stream("", big), aFont, picture),
		"filters in a row":             made(catalog, tree, aPage, strings.Replace(stream("", big), "/FlateDecode", "["+strings.Repeat("/FlateDecode ", 100)+"]", 1), aFont, picture),
		"columns without an end":       made(catalog, tree, aPage, stream("/DecodeParms <</Predictor 15 /Columns 1000000000 /Colors 32 /BitsPerComponent 16>>", shown), aFont, picture),
		"text without an end":          content("BT /F 12 Tf 50 700 Td " + strings.Repeat("("+strings.Repeat("x", 1000)+") Tj ", 30_000)),
		"items without an end":         content("BT /F 12 Tf [" + strings.Repeat("1 ", 15<<20) + "] TJ"),
		"saved states":                 content(strings.Repeat("q ", 1_000_000) + shown),
		"lists in the file":            made(catalog, tree, aPage, "["+strings.Repeat("[1 2 3 4]", 2_000_000)+"]", aFont, picture),
		"a map of wide ranges": made(catalog, tree, aPage, stream("", "BT /F 12 Tf 9 9 Td "+strings.Repeat("<0001fffe0101> Tj ", 100_000)),
			"<</Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 7 0 R /DescendantFonts [<</W [0 2000000000 5 0 2000000000 6]>>]>>", picture,
			stream("", strings.Repeat("<00000000> <ffffffff> <0041> endbfrange ", 200_000))),
		"numbers that are none": content("BT /F 1e999 Tf nan inf Td 1e308 0 0 1e308 0 0 cm 1e308 0 0 1e308 0 0 cm (x) Tj"),
		"no ends of streams":    made(append([]string{catalog, tree, aPage}, slicesOf("<</Length 9999999>>\nstream\nx", 50_000)...)...),
		"many small objects":    made(slicesOf("1", 600_000)...),
		"only the word obj":     append([]byte("%PDF-1.4\n"), strings.Repeat("1 0 obj ", 2_000_000)...),
		"trailers":              append([]byte("%PDF-1.4\n"), strings.Repeat("trailer<</Root 1 0 R>> 1 0 obj ", 300_000)...),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			text, _, err := pdf.Text(t.Context(), raw, 1<<20)
			runtime.ReadMemStats(&after)
			if len(text) > 1<<20 || !utf8.ValidString(text) {
				t.Errorf("%d bytes, %v", len(text), err)
			}
			if used := after.Sys - before.Sys; used > 1<<30 {
				t.Errorf("%d MB were used", used>>20)
			}
		})
	}
}

func slicesOf(s string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func FuzzText(f *testing.F) {
	f.Add(mustRead(f, "encrypted.pdf"))
	f.Add(mustRead(f, "encrypted-rc4.pdf"))
	f.Add(content("q BT /F 12 Tf 50 700 Td [(wo) 20 (rd)] TJ T* <48> ' ET Q /X Do BI ID x EI"))
	f.Add(made(catalog, tree, aPage, "<</Filter [/LZWDecode /RL /A85 /AHx] /DecodeParms [<</Predictor 12 /Columns 3>>]>>\nstream\n\x80\x0b\x60\x50\nendstream", aFont))
	f.Add(made(catalog, "<</Type /ObjStm /N 2 /First 8>>\nstream\n2 0 3 9 <</Kids [3 0 R]>> <<>>\nendstream"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text, _, err := pdf.Text(t.Context(), raw, 10_000)
		if len(text) > 10_000 || !utf8.ValidString(text) || err != nil && text != "" {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		if strings.ContainsAny(text, "\x00\x1b\r") {
			t.Fatalf("control characters: %q", text)
		}
	})
}
