package object

import (
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
)

const (
	unfinishedExt = ".tmp"
	// sampled is the size of the part that tells whether a big content can be compressed.
	sampled = 16 << 10
	// whole is the size up to which a content is held in memory.
	whole = 1 << 20
)

// A writer writes the pack that is being made.
type writer struct {
	file *os.File
	buf  *bufio.Writer
	at   int64
}

func (w *writer) flush() error { return w.buf.Flush() }

// begin makes the writer when the first content comes.
func (s *Store) begin() error {
	if s.w != nil {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(s.folder, rand.Text()+unfinishedExt), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := &writer{file: f, buf: bufio.NewWriterSize(f, 1<<18), at: int64(len(packMagic))}
	s.w = w
	_, err = w.buf.WriteString(packMagic)
	return err
}

// Add stores a content and returns its hash. It stores nothing twice.
func (s *Store) Add(data []byte) (Hash, error) {
	h := HashOf(data)
	if s.Has(h) {
		return h, nil
	}
	d := s.deflater()
	defer s.deflates.Put(d)
	stored, method := d.deflate(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	return h, s.append(entry{hash: h, stored: int64(len(stored)), size: int64(len(data)), method: method}, stored)
}

// append writes a content as it is stored. It needs s.mu.
func (s *Store) append(e entry, stored []byte) error {
	if _, ok := s.pending[e.hash]; ok {
		return nil
	}
	if err := s.begin(); err != nil {
		return err
	}
	if _, err := s.w.buf.Write(stored); err != nil {
		return err
	}
	e.at = s.w.at
	s.w.at += e.stored
	s.pending[e.hash] = e
	return nil
}

// AddFrom stores what r has from its beginning, of any size, and returns its hash and size.
// It reads r twice if it is big, and gives ErrChanged if it is not the same the second time.
func (s *Store) AddFrom(r io.ReadSeeker) (Hash, int64, error) {
	d := s.deflater()
	defer s.deflates.Put(d)
	d.read.Reset()
	n, err := io.Copy(&d.read, io.LimitReader(r, whole+1))
	if err != nil {
		return Hash{}, 0, err
	}
	if n <= whole {
		h, err := s.Add(d.read.Bytes())
		return h, n, err
	}
	sum := sha256.New()
	sum.Write(d.read.Bytes())
	more, err := io.Copy(sum, r)
	if err != nil {
		return Hash{}, 0, err
	}
	e := entry{hash: Hash(sum.Sum(nil)), size: n + more, method: asIs}
	if s.Has(e.hash) {
		return e.hash, e.size, nil
	}
	if _, method := d.deflate(d.read.Bytes()[:sampled]); method == deflated {
		e.method = deflated
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return Hash{}, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.hash, e.size, s.stream(e, r)
}

// ErrChanged means that a content changed while it was read.
var ErrChanged = fmt.Errorf("it changed while it was read")

// stream writes a big content without holding it in memory. It needs s.mu. If it fails, the
// pack is cut where the content began.
func (s *Store) stream(e entry, r io.Reader) (err error) {
	if _, ok := s.pending[e.hash]; ok {
		return nil
	}
	if err := s.begin(); err != nil {
		return err
	}
	e.at = s.w.at
	defer func() {
		if err == nil {
			return
		}
		_ = s.w.buf.Flush()
		if s.w.file.Truncate(e.at) == nil {
			_, _ = s.w.file.Seek(e.at, io.SeekStart)
			s.w.at = e.at
		}
	}()
	sum := sha256.New()
	to := &counted{w: s.w.buf}
	from := io.TeeReader(io.LimitReader(r, e.size+1), sum)
	if e.method == asIs {
		_, err = io.Copy(to, from)
	} else {
		var z *flate.Writer
		if z, err = flate.NewWriter(to, flate.BestSpeed); err == nil {
			if _, err = io.Copy(z, from); err == nil {
				err = z.Close()
			}
		}
	}
	if err != nil {
		return err
	}
	if Hash(sum.Sum(nil)) != e.hash {
		return ErrChanged
	}
	e.stored = to.n
	s.w.at += e.stored
	s.pending[e.hash] = e
	return nil
}

type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Commit makes what was added last: it survives a crash of the machine from then on.
func (s *Store) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.w == nil {
		return nil
	}
	path, err := s.finish()
	if err != nil {
		s.discard()
		return fmt.Errorf("write a pack: %w", err)
	}
	s.w, s.pending = nil, map[Hash]entry{}
	p, err := openPack(path)
	if err != nil {
		return err
	}
	s.packs = append(s.packs, p)
	return nil
}

// finish writes the index and gives the pack its name.
func (s *Store) finish() (path string, err error) {
	var index []byte
	for _, h := range s.sorted() {
		index = s.pending[h].append(index)
	}
	sum := sha256.Sum256(index)
	end := binary.LittleEndian.AppendUint64(index, uint64(len(s.pending)))
	end = binary.LittleEndian.AppendUint64(end, uint64(s.w.at))
	end = append(append(end, sum[:]...), endMagic...)
	if _, err := s.w.buf.Write(end); err != nil {
		return "", err
	}
	if err := s.w.flush(); err != nil {
		return "", err
	}
	if err := s.w.file.Sync(); err != nil {
		return "", err
	}
	from := s.w.file.Name()
	if err := s.w.file.Close(); err != nil {
		return "", err
	}
	path = filepath.Join(s.folder, rand.Text()+packExt)
	if err := os.Rename(from, path); err != nil {
		return "", err
	}
	return path, s.syncFolder()
}

func (s *Store) sorted() []Hash {
	out := make([]Hash, 0, len(s.pending))
	for h := range s.pending {
		out = append(out, h)
	}
	sort.Slice(out, func(i, j int) bool { return bytes.Compare(out[i][:], out[j][:]) < 0 })
	return out
}

// Discard forgets what was added since the last Commit.
func (s *Store) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discard()
}

func (s *Store) discard() {
	if s.w == nil {
		return
	}
	s.w.file.Close()
	_ = os.Remove(s.w.file.Name()) // else the next Open does
	s.w, s.pending = nil, map[Hash]entry{}
}

// A deflater has what one reader and compressor of contents needs.
type deflater struct {
	read, out bytes.Buffer
	z         *flate.Writer
}

func (s *Store) deflater() *deflater {
	if d, ok := s.deflates.Get().(*deflater); ok {
		return d
	}
	z, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is valid
	return &deflater{z: z}
}

// deflate returns a content as it is stored. The result is valid until the next call.
func (d *deflater) deflate(data []byte) ([]byte, byte) {
	if len(data) > 4*sampled {
		if _, method := d.deflate(data[:sampled]); method == asIs {
			return data, asIs
		}
	}
	d.out.Reset()
	d.z.Reset(&d.out)
	if _, err := d.z.Write(data); err != nil || d.z.Close() != nil {
		return data, asIs
	}
	if d.out.Len() >= len(data)-len(data)/16 {
		return data, asIs
	}
	return d.out.Bytes(), deflated
}
