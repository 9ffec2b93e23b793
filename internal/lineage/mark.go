package lineage

import "os"

// Mark is what an agent gives each of its commands, so that a program below them
// knows. Its methods may be called concurrently; a nil Mark gives nothing.
type Mark struct {
	home string
	file *os.File // nil if the system has no such file
}

// NewMark makes the mark of an agent that uses this home. The error says why
// commands get no file; the mark works without. The caller must call Close.
func NewMark(home string) (*Mark, error) {
	f, err := markFile(text(home))
	return &Mark{home: home, file: f}, err
}

// Environ returns the variables that each command gets, after all others.
func (m *Mark) Environ() []string {
	if m == nil {
		return nil
	}
	return []string{Variable + "=" + m.home}
}

// firstFree is the first descriptor after the standard streams.
const firstFree = 3

// markAt is the descriptor that commands get. Scripts use 3 to 9 by hand, Node.js
// closes up to 16, and shells use 63 and 255 downwards.
const markAt = 47

// Files returns the files that each command gets as descriptors, from 3 on. A nil
// entry is one that the command does not get.
func (m *Mark) Files() []*os.File {
	if m == nil || m.file == nil {
		return nil
	}
	files := make([]*os.File, markAt-firstFree+1)
	files[markAt-firstFree] = m.file
	return files
}

// Close closes the file in this process. Commands keep theirs.
func (m *Mark) Close() error {
	if m == nil || m.file == nil {
		return nil
	}
	return m.file.Close()
}

// mark is the content of the file.
type mark struct{ home string }

// markBegin begins the content of the file.
const markBegin = "This process was started by an agent of Hermes.\nhome "

func text(home string) []byte { return []byte(markBegin + home + "\n") }
