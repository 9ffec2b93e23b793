package pdf_test

import (
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
