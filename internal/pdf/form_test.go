package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"hermes/internal/pdf"
)

// text returns the text of a file that is read whole.
func text(t *testing.T, raw []byte) string {
	t.Helper()
	got, cut, err := pdf.Text(t.Context(), raw, 1<<20)
	if err != nil || cut {
		t.Errorf("cut %v, %v", cut, err)
	}
	return got
}

func TestValuesInFormsAreRead(t *testing.T) {
	t.Parallel()
	box := "/Subtype /Form /BBox [0 0 100 20] /Resources <</Font <</F 5 0 R>>>>"
	raw := made(catalog, tree,
		strings.Replace(aPage, "/Contents", "/Annots [7 0 R 8 0 R 9 0 R] /Contents", 1),
		stream("", "BT /F 12 Tf 50 700 Td (Name) Tj ET"), aFont, picture,
		"<</Subtype /Widget /Rect [100 600 200 620] /AP <</N 10 0 R>>>>",
		"<</Subtype /Widget /Rect [100 500 200 520] /AS /Yes /AP <</N <</Yes 11 0 R /Off 12 0 R>>>>>>",
		"<</Subtype /Widget /F 2 /Rect [100 400 200 420] /AP <</N 12 0 R>>>>",
		plainStream(box, "/Tx BMC BT /F 12 Tf 2 4 Td (Ada) Tj ET EMC"),
		plainStream(box, "BT /F 12 Tf 2 4 Td (ticked) Tj ET"),
		plainStream(box, "BT /F 12 Tf 2 4 Td (not shown) Tj ET"))
	if got, want := text(t, raw), "Name\n\nAda\n\nticked\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTextThatIsNotDrawnIsLeftOut(t *testing.T) {
	t.Parallel()
	page := strings.Replace(aPage, "/XObject", "/ExtGState <</None <</ca 0>> /Full <</ca 1>>>> /Properties <</Off 7 0 R /On 8 0 R /Both 9 0 R>> /XObject", 1)
	catalog := "<</Type /Catalog /Pages 2 0 R /OCProperties <</OCGs [7 0 R 8 0 R] /D <</OFF [7 0 R]>>>>>>"
	for in, want := range map[string]string{
		"q /None gs BT /F 12 Tf 50 700 Td (order) Tj ET Q " + show: "shown\n",
		"/Full gs " + show: "shown\n",
		"BT /F 12 Tf 0.001 Tz 50 700 Td (order) Tj 100 Tz 0 -14 Td (shown) Tj ET":        "shown\n",
		"/OC /Off BDC BT /F 12 Tf 50 700 Td (order) Tj ET /P BMC (x) Tj EMC EMC " + show: "shown\n",
		"/OC /Both BDC BT /F 12 Tf 50 700 Td (order) Tj ET EMC " + show:                  "shown\n",
		"/OC /On BDC " + show + "EMC":                                                    "shown\n",
	} {
		raw := made(catalog, tree, page, stream("", in), aFont, picture, "<</Type /OCG>>", "<</Type /OCG>>", "<</Type /OCMD /OCGs [7 0 R 8 0 R] /P /AllOn>>")
		if got := text(t, raw); got != want {
			t.Errorf("%s\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestFontsInTheResources(t *testing.T) {
	t.Parallel()
	// two dictionaries with one name, and a form that has its own
	form := "/Subtype /Form /Resources <</Font <</F <</Subtype /Type1 /Encoding <</Differences [65 /f_i]>>>>>> /XObject <<>>>>"
	page := strings.Replace(aPage, "/F 5 0 R", "/F <</Subtype /Type1 /Encoding <</Differences [65 /f_f_i.alt]>>>>", 1)
	raw := made(catalog, tree, page, stream("", "BT /F 12 Tf 50 700 Td (A) Tj ET /X Do"), aFont, plainStream(form, "BT /F 12 Tf 50 600 Td (A) Tj ET"))
	if got, want := text(t, raw), "ffi\n\nfi\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatIsNotReadIsSaid(t *testing.T) {
	t.Parallel()
	raw := made(catalog, "<</Type /Pages /Kids ["+strings.Repeat("<</Type /Page /Contents 4 0 R /Resources <</Font <</F 5 0 R>>>>>> ", 5001)+"]>>", "0", stream("", show), aFont)
	got, cut, err := pdf.Text(t.Context(), raw, 1<<20)
	if !cut || err != nil || !strings.Contains(got, "--- page 5000\n") || strings.Contains(got, "--- page 5001\n") {
		t.Errorf("%d bytes, cut %v, %v", len(got), cut, err)
	}
}

// tabled returns a file with a table of its first objects.
func tabled(n int, objects ...string) []byte {
	raw := made(objects...)
	raw = raw[:bytes.LastIndex(raw, []byte("trailer"))]
	at := len(raw)
	raw = fmt.Appendf(raw, "xref\n0 %d\n0000000000 65535 f \n", n+1)
	for i := range n {
		raw = fmt.Appendf(raw, "%010d 00000 n \n", bytes.Index(raw, fmt.Appendf(nil, "\n%d 0 obj", i+1))+1)
	}
	return fmt.Appendf(raw, "trailer\n<</Root 1 0 R /Size %d>>\nstartxref\n%d\n%%%%EOF\n", n+1, at)
}

// What is not in a sound table is shown by no viewer.
func TestOnlyObjectsOfASoundTableAreRead(t *testing.T) {
	t.Parallel()
	raw := tabled(6, catalog, tree, aPage, stream("", show), aFont, picture)
	order := "BT /F 12 Tf 50 700 Td (order) Tj ET"
	later := append(bytes.Clone(raw), "4 0 obj\n"+stream("", order)+"\nendobj\n"...)
	comment := append(bytes.Clone(raw), "%trailer<</Root 9 0 R>>\n9 0 obj<</Type /Catalog /Pages <</Kids [<</Type /Page /Contents 10 0 R>>]>>>>\nendobj\n10 0 obj\n"+stream("", order)+"\nendobj\n"...)
	for name, raw := range map[string][]byte{"the file": raw, "a later object": later, "a trailer in a comment": comment} {
		if got := text(t, raw); got != "shown\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
	broken := bytes.Replace(raw, []byte("00000 n"), []byte("00000 x"), 1)
	if got := text(t, broken); got != "shown\n" {
		t.Errorf("a broken table: %q", got)
	}
	// a change with a table of its own, which leads to the old one
	old := bytes.LastIndex(raw, []byte("xref\n0"))
	at := len(raw)
	changed := append(bytes.Clone(raw), "4 0 obj\n"+stream("", strings.Replace(show, "shown", "changed", 1))+"\nendobj\n"...)
	table := len(changed)
	changed = fmt.Appendf(changed, "xref\n4 1\n%010d 00000 n \ntrailer\n<</Root 1 0 R /Size 7 /Prev %d>>\nstartxref\n%d\n%%%%EOF\n", at, old, table)
	if got := text(t, append(changed, "4 0 obj\n"+stream("", order)+"\nendobj\n"...)); got != "changed\n" {
		t.Errorf("a changed file: %q", got)
	}
	// tables in a circle, and one without an end
	for _, bad := range []string{fmt.Sprintf("trailer\n<</Root 1 0 R /Prev %d", old), "xref\n0 2000000000\n"} {
		hostile := bytes.Replace(raw, []byte("trailer\n<</Root 1 0 R"), []byte(bad), 1)
		if got := text(t, hostile); got != "shown\n" && !strings.HasPrefix(bad, "xref") {
			t.Errorf("%s: %q", bad, got)
		}
	}
}

func TestATableThatIsAStream(t *testing.T) {
	t.Parallel()
	packed := "2 0 3 " + fmt.Sprint(len(tree)+1) + " "
	raw := made(catalog, "null", "null", stream("", show), aFont, picture, stream(fmt.Sprintf("/Type /ObjStm /N 2 /First %d", len(packed)), packed+tree+" "+aPage))
	raw = raw[:bytes.LastIndex(raw, []byte("trailer"))]
	at := len(raw)
	var rows bytes.Buffer
	row := func(kind, offset, index int) {
		rows.Write([]byte{byte(kind), byte(offset >> 8), byte(offset), byte(index)})
	}
	for i := range 9 {
		switch i {
		case 0:
			row(0, 0, 0)
		case 2, 3:
			row(2, 7, i-2)
		case 8:
			row(1, at, 0)
		default:
			row(1, bytes.Index(raw, fmt.Appendf(nil, "\n%d 0 obj", i))+1, 0)
		}
	}
	raw = fmt.Appendf(raw, "8 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", stream("/Type /XRef /Root 1 0 R /Size 9 /W [1 2 1]", rows.String()), at)
	order := stream("", "BT /F 12 Tf 50 700 Td (order) Tj ET")
	for name, raw := range map[string][]byte{"the file": raw, "a later object": append(bytes.Clone(raw), "4 0 obj\n"+order+"\nendobj\n3 0 obj\n<<>>\nendobj\n"...)} {
		if got := text(t, raw); got != "shown\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
