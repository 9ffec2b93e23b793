package document

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// errTooMuch stops reading a document that is small only when packed.
var errTooMuch = errors.New("unpacks to more than the limit")

// eachToken calls visit for every start, end and text of an XML part.
func eachToken(data []byte, visit func(xml.Token) error) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("is damaged: %w", err)
		}
		if err := visit(token); err != nil {
			return err
		}
	}
}

// paragraphs returns the text of a word processor or slide part: the text of
// elements named t, with a line for each paragraph and tabs between cells.
func paragraphs(data []byte) (string, error) {
	var out strings.Builder
	inText := false
	err := eachToken(data, func(token xml.Token) error {
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "t":
				inText = true
			case "tab":
				out.WriteByte('\t')
			case "br", "cr":
				out.WriteByte('\n')
			}
		case xml.EndElement:
			switch token.Name.Local {
			case "t":
				inText = false
			case "p":
				out.WriteByte('\n')
			case "tc":
				out.WriteByte('\t')
			}
		case xml.CharData:
			if inText {
				out.Write(token)
			}
		}
		return nil
	})
	return out.String(), err
}

func wordText(a archive) (string, error) {
	data, err := a.part("word/document.xml")
	if err != nil {
		return "", err
	}
	return paragraphs(data)
}

func slideText(a archive) (string, error) {
	var out strings.Builder
	for _, name := range a.numbered("ppt/slides/slide") {
		data, err := a.part(name)
		if err != nil {
			return "", err
		}
		text, err := paragraphs(data)
		if err != nil {
			return "", err
		}
		if out.Len()+len(text) > maxUnpacked {
			return "", errTooMuch
		}
		fmt.Fprintf(&out, "--- %s\n%s", strings.TrimSuffix(name[len("ppt/slides/"):], ".xml"), text)
	}
	if out.Len() == 0 {
		return "", errors.New("has no slides")
	}
	return out.String(), nil
}

// numbered lists the parts named prefix + number + ".xml", sorted by number.
func (a archive) numbered(prefix string) []string {
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(name, prefix), ".xml"))
		if err != nil {
			return -1
		}
		return n
	}
	var names []string
	for name := range a {
		if strings.HasPrefix(name, prefix) && number(name) >= 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int { return number(x) - number(y) })
	return names
}

// sheetText shows every sheet of a workbook with tabs between cells.
func sheetText(a archive) (string, error) {
	shared, err := sharedStrings(a)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, name := range a.numbered("xl/worksheets/sheet") {
		data, err := a.part(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "--- %s\n", strings.TrimSuffix(name[len("xl/worksheets/"):], ".xml"))
		if err := sheet(&out, data, shared); err != nil {
			return "", err
		}
	}
	if out.Len() == 0 {
		return "", errors.New("has no sheets")
	}
	return out.String(), nil
}

// sharedStrings reads the table of texts that cells refer to by number.
func sharedStrings(a archive) ([]string, error) {
	if a["xl/sharedStrings.xml"] == nil {
		return nil, nil
	}
	data, err := a.part("xl/sharedStrings.xml")
	if err != nil {
		return nil, err
	}
	var list []string
	var text strings.Builder
	inText := false
	err = eachToken(data, func(token xml.Token) error {
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "t"
		case xml.EndElement:
			inText = false
			if token.Name.Local == "si" {
				list = append(list, text.String())
				text.Reset()
			}
		case xml.CharData:
			if inText {
				text.Write(token)
			}
		}
		return nil
	})
	return list, err
}

// sheet writes the rows of one sheet. Cells that are left out are empty.
func sheet(out *strings.Builder, data []byte, shared []string) error {
	var kind, value string
	column, inValue := 0, false
	return eachToken(data, func(token xml.Token) error {
		switch token := token.(type) {
		case xml.StartElement:
			switch token.Name.Local {
			case "row":
				column = 0
			case "c":
				kind, value = attribute(token, "t"), ""
				if out.Len() > maxUnpacked {
					return errTooMuch
				}
				for to := columnOf(attribute(token, "r")); column < to; column++ {
					out.WriteByte('\t')
				}
			case "v", "t":
				inValue = true
			}
		case xml.EndElement:
			switch token.Name.Local {
			case "v", "t":
				inValue = false
			case "c":
				if i, err := strconv.Atoi(value); kind == "s" && err == nil && i >= 0 && i < len(shared) {
					value = shared[i]
				}
				out.WriteString(strings.ReplaceAll(value, "\n", " "))
			case "row":
				out.WriteByte('\n')
			}
		case xml.CharData:
			if inValue {
				value += string(token)
			}
		}
		return nil
	})
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// columnOf returns the column of a cell reference such as AB12, from 0, or 0
// for an invalid one.
func columnOf(ref string) int {
	const maxColumns = 16384
	n := 0
	for _, r := range ref {
		if r < 'A' || r > 'Z' {
			break
		}
		n = n*26 + int(r-'A') + 1
		if n > maxColumns {
			return 0
		}
	}
	return max(n-1, 0)
}
