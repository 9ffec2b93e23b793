// Package document turns documents into text: notebooks, PDF files, and the text documents,
// sheets and slides of office programs. It knows neither files nor tools, and bounds what it reads
// and unpacks.
package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"hermes/internal/pdf"
)

const (
	// maxDocument bounds documents that are extracted, in bytes.
	maxDocument = 64 << 20
	// maxUnpacked bounds the unpacked size of one part of a document.
	maxUnpacked = 64 << 20
	// maxParts bounds the parts of a document.
	maxParts = 10_000
)

// Extractor returns the function that turns a document with this name into text, or nil for
// plain files. The function reads size bytes, stops soon after the context ends, and its error goes on after the name of the
// file, as in "is too large to extract".
func Extractor(path string) func(ctx context.Context, r io.Reader, size int64) (string, error) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return nil
	}
	switch strings.ToLower(path[i:]) {
	case ".ipynb":
		return notebook
	case ".docx":
		return zipped(wordText)
	case ".xlsx":
		return zipped(sheetText)
	case ".pptx":
		return zipped(slideText)
	case ".pdf":
		return pdfText
	}
	return nil
}

// lines is a text in a notebook: one string, or one for each line.
type lines string

func (l *lines) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = lines(one)
		return nil
	}
	var many []string
	if json.Unmarshal(data, &many) == nil {
		*l = lines(strings.Join(many, ""))
	}
	return nil // anything else is not text
}

// notebook shows the cells of a Jupyter notebook with their text outputs.
func notebook(_ context.Context, r io.Reader, size int64) (string, error) {
	data, err := readDocument(r, size)
	if err != nil {
		return "", err
	}
	var workbook struct {
		Cells []struct {
			Type    string `json:"cell_type"`
			Source  lines  `json:"source"`
			Outputs []struct {
				Text  lines            `json:"text"`
				Data  map[string]lines `json:"data"`
				Name  string           `json:"ename"`
				Value string           `json:"evalue"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(data, &workbook); err != nil {
		return "", fmt.Errorf("is not a valid notebook (%w): read it with the terminal tool", err)
	}
	var out strings.Builder
	for i, c := range workbook.Cells {
		fmt.Fprintf(&out, "--- cell %d (%s)\n%s\n", i+1, c.Type, c.Source)
		for _, o := range c.Outputs {
			text := o.Text + o.Data["text/plain"]
			if o.Name != "" {
				text = lines(o.Name + ": " + o.Value)
			}
			if text != "" {
				fmt.Fprintf(&out, "--- output\n%s\n", text)
			}
		}
	}
	return out.String(), nil
}

// pdfText shows the text of a PDF file, page by page.
func pdfText(ctx context.Context, r io.Reader, size int64) (string, error) {
	data, err := readDocument(r, size)
	if err != nil {
		return "", err
	}
	text, cut, err := pdf.Text(ctx, data, maxUnpacked)
	switch {
	case errors.Is(err, pdf.ErrNoText):
		return "", fmt.Errorf("%w: to see them, turn them into pictures with the terminal tool (pdftoppm)", err)
	case err != nil:
		return "", err
	case cut:
		text += "[The file has more text than is extracted.]\n"
	}
	return text, nil
}

func readDocument(r io.Reader, size int64) ([]byte, error) {
	if size > maxDocument {
		return nil, fmt.Errorf("has %d bytes, more than the %d that are extracted: use the terminal tool", size, maxDocument)
	}
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err == nil && len(data) > maxDocument {
		err = errors.New("is too large to extract: use the terminal tool")
	}
	return data, err
}

// An archive holds the parts of an office document by name.
type archive map[string]*zip.File

// zipped opens an office document and hands its parts to a text extractor.
func zipped(text func(archive) (string, error)) func(context.Context, io.Reader, int64) (string, error) {
	return func(_ context.Context, r io.Reader, size int64) (string, error) {
		data, err := readDocument(r, size)
		if err != nil {
			return "", err
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return "", fmt.Errorf("is not a valid document (%w)", err)
		}
		if len(z.File) > maxParts {
			return "", fmt.Errorf("has %d parts, too many for a document", len(z.File))
		}
		a := archive{}
		for _, f := range z.File {
			a[f.Name] = f
		}
		return text(a)
	}
}

// part returns the content of one part, or an error if it is missing or
// unpacks to too much.
func (a archive) part(name string) ([]byte, error) {
	f := a[name]
	if f == nil {
		return nil, fmt.Errorf("is not a valid document: it has no part %s", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("read its part %s: %w", name, err)
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err == nil && len(data) > maxUnpacked {
		err = errors.New("it unpacks to more than the limit")
	}
	if err != nil {
		return nil, fmt.Errorf("read its part %s: %w", name, err)
	}
	return data, nil
}
