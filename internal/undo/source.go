package undo

import (
	"os"
	"strings"
)

// Source makes records that are not files available like files. Its paths begin
// with its name and a colon. Both functions return soon and may be called
// concurrently.
type Source struct {
	// Read returns the content of a record, nil if there is none.
	Read func(path string) ([]byte, error)
	// Write sets the content of a record; nil removes it.
	Write func(path string, content []byte) error
}

// With returns the journal with a source added. Its name has at least two
// letters, since one letter would be a Windows drive.
func (j *Journal) With(name string, s Source) *Journal {
	out := &Journal{dir: j.dir, now: j.now, sources: map[string]Source{name: s}}
	for have, source := range j.sources {
		if have != name {
			out.sources[have] = source
		}
	}
	return out
}

func (j *Journal) source(path string) (Source, bool) {
	name, _, ok := strings.Cut(path, ":")
	if !ok {
		return Source{}, false
	}
	s, ok := j.sources[name]
	return s, ok
}

// read returns the content of a record or file, nil if there is none.
func (j *Journal) read(path string) ([]byte, error) {
	if s, ok := j.source(path); ok {
		return s.Read(path)
	}
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if data == nil && err == nil {
		data = []byte{}
	}
	return data, err
}

// keepRecord stores the content of a record.
func (j *Journal) keepRecord(s Source, path string, into map[string]state) error {
	data, err := s.Read(path)
	if err != nil || data == nil {
		return err
	}
	hash := hashOf(data)
	into[path] = state{hash: hash}
	return j.putBlob(hash, data)
}
