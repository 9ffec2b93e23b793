package pdf_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"hermes/internal/pdf"
	"hermes/internal/race"
)

const show = "BT /F 12 Tf 50 700 Td (shown) Tj ET "

// plainStream returns a stream without a filter.
func plainStream(dict, content string) string {
	return fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", dict, len(content), content)
}

// Each of these does much more work than its size says. The reader must see that it does, and end at the
// bound: each would take minutes or hours otherwise.
func TestWorkIsCounted(t *testing.T) {
	race.Skip(t)
	manyParts := func(n int) string {
		return strings.Replace(aPage, "4 0 R", "["+strings.Repeat("4 0 R ", n)+"]", 1)
	}
	nothing := plainStream("/Filter /ASCIIHexDecode", strings.Repeat("z", 4<<20))
	numbered := func(n, offset int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d %d ", 100+i, offset)
		}
		return b.String()
	}
	header := numbered(20_000, 0)
	refs := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%d 0 R ", 100+i)
		}
		return b.String()
	}
	many := "[" + strings.Repeat("0 ", 400_000) + "]"
	fonts := func(entry string) string { // 2000 fonts that share a list
		var b strings.Builder
		b.WriteString("<</Type /Page /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <</Font <<")
		for i := range 2000 {
			fmt.Fprintf(&b, "/F%d <<%s>> ", i, entry)
		}
		b.WriteString(">>>>>>")
		return b.String()
	}
	var useFonts strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&useFonts, "/F%d 1 Tf ", i)
	}
	for name, raw := range map[string][]byte{
		"trailers with an open string": append(made(catalog, tree, aPage, stream("", show), aFont, picture), strings.Repeat("trailer(", 2<<20)...),
		"parts that unpack to nothing": made(catalog, tree, manyParts(400_000), nothing, aFont, picture),
		"a shared part of comments":    made(catalog, tree, strings.Replace(aPage, "4 0 R", "["+strings.Repeat("7 0 R ", 2)+"4 0 R]", 1), stream("", strings.Repeat("/X Do ", 200_000)), aFont, plainStream("/Subtype /Form", "%"+strings.Repeat("x", 5<<20)), plainStream("", "%"+strings.Repeat("x", 5<<20))),
		"one long object, many names":  made(catalog, tree, strings.Replace(aPage, "4 0 R", "["+refs(20_000)+"]", 1), stream(fmt.Sprintf("/Type /ObjStm /N 20000 /First %d", len(header)), header+"("+strings.Repeat("x", 30<<20)+")"), aFont, picture),
		"widths of many fonts":         made(catalog, tree, fonts("/Subtype /Type0 /DescendantFonts [<</W 6 0 R>>]"), stream("", useFonts.String()), aFont, "["+strings.Repeat("0 7 0 R ", 200_000)+"]", many),
		"names of many fonts":          made(catalog, tree, fonts("/Encoding <</Differences 6 0 R>>"), stream("", strings.Repeat(useFonts.String(), 40)), aFont, many),
		"the matrix of a form":         made(catalog, tree, aPage, stream("", strings.Repeat("/X Do ", 1_000_000)), aFont, plainStream("/Subtype /Form /Matrix 7 0 R", "/F"), many),
		"a group of many layers":       made(strings.Replace(catalog, "/Pages", "/OCProperties <</D <</OFF [7 0 R]>>>> /Pages", 1), tree, strings.Replace(aPage, "/XObject", "/Properties <</P 6 0 R>> /XObject", 1), stream("", strings.Repeat("/OC /P BDC EMC ", 200_000)), aFont, "<</Type /OCMD /OCGs ["+strings.Repeat("7 0 R ", 400_000)+"]>>"),
		"words from right to left":     hebrew(strings.Repeat("<41> Tj -2 0 Td ", 1_500_000)),
	} {
		t.Run(name, func(t *testing.T) {
			const bound = 1_000_000
			_, cut, used, err := pdf.TextWithin(t.Context(), raw, 1<<20, bound)
			if !cut && !errors.Is(err, pdf.ErrWork) {
				t.Errorf("%d steps, cut %v, %v", used, cut, err)
			}
			if used > 4*bound { // the last thing that is counted may be large
				t.Errorf("%d steps of %d", used, bound)
			}
		})
	}
}

// hebrew returns a file whose code 41 is a letter that is written from the right to the left.
func hebrew(operators string) []byte {
	return made(catalog, tree, aPage, stream("", "BT /F 12 Tf 500000 700 Td "+operators+"ET"), "<</Subtype /Type1 /ToUnicode 7 0 R /Widths [1] /FirstChar 65>>", picture, stream("", "<41> <05d0> endbfchar"))
}

// Memory is bounded by the text, not by what the file's maps could make of it.
func TestTextThatGrowsIsBounded(t *testing.T) {
	race.Skip(t)
	unit := strings.Repeat("0061", 100)
	strange := "<</Subtype /Type1 /ToUnicode 7 0 R>>"
	for name, mode := range map[string]string{"shown": "", "invisible": "3 Tr "} {
		raw := made(catalog, tree, aPage, stream("", "BT /F 12 Tf "+mode+"50 700 Td ("+strings.Repeat("A", 31<<20)+") Tj ET"), strange, picture, stream("", "<41> <"+unit+"> endbfchar"))
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		text, cut, err := pdf.Text(t.Context(), raw, 64<<20)
		runtime.ReadMemStats(&after)
		if !cut && !errors.Is(err, pdf.ErrWork) || len(text) > 40<<20 {
			t.Errorf("%s: %d bytes, cut %v, %v", name, len(text), cut, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<30 {
			t.Errorf("%s: %d MB were used", name, used>>20)
		}
	}
}

func TestReadingStopsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text, cut, err := pdf.Text(ctx, content(strings.Repeat(show, 10_000)), 1<<20)
	if !errors.Is(err, context.Canceled) || text != "" || cut {
		t.Errorf("%d bytes, cut %v, %v", len(text), cut, err)
	}
}
