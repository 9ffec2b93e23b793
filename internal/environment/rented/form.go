package rented

import (
	"bytes"
	"io"
	"mime/multipart"
)

// Part is one part of a form: a value, or a file if File is its name.
type Part struct {
	Name, File string
	Data       []byte
}

// Form makes a body of parts and returns its content type.
func Form(parts ...Part) (body []byte, kind string, err error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, p := range parts {
		begin := form.CreateFormField
		if p.File != "" {
			begin = func(name string) (io.Writer, error) { return form.CreateFormFile(name, p.File) }
		}
		to, err := begin(p.Name)
		if err != nil {
			return nil, "", err
		}
		if _, err := to.Write(p.Data); err != nil {
			return nil, "", err
		}
	}
	err = form.Close()
	return b.Bytes(), form.FormDataContentType(), err
}
