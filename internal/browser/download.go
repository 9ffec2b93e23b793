package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"hermes/internal/cdp"
	"hermes/internal/text"
)

// Downloads says where files of pages go. Of those that are too many or too large, none is
// kept.
type Downloads struct {
	Folder   string // must exist; empty: downloads are refused
	MaxBytes int64  // of one file; 0 is 100 MB
	MaxFiles int    // 0 is 20
}

// Download is a file that a page offered.
type Download struct {
	URL  string
	Name string // as the page suggests it
	// Path is where it was saved; empty as long as Done is false, and if Err is not nil.
	Path  string
	Bytes int64
	Done  bool
	Err   error
}

// downloads are the downloads of a browser.
type downloads struct {
	list  []*Download
	begun map[string]*Download // by id, as long as they are not done
	lost  []string             // files that may be left of others
}

const mostListed = 200

func (b *Browser) prepareDownloads(ctx context.Context) error {
	d := &b.opts.Downloads
	d.MaxBytes, d.MaxFiles = cmp.Or(d.MaxBytes, 100<<20), cmp.Or(d.MaxFiles, 20)
	if b.opts.Remote != "" {
		b.conn.Post(b.life, "", "Browser.setDownloadBehavior", fields{"behavior": "deny"}) // what a service may not know; no file comes here
		return nil
	}
	if b.program == nil {
		return nil
	}
	if d.Folder == "" {
		return b.call(ctx, "", "Browser.setDownloadBehavior", fields{"behavior": "deny", "eventsEnabled": true}, nil)
	}
	return b.call(ctx, "", "Browser.setDownloadBehavior", fields{
		"behavior": "allowAndName", "downloadPath": d.Folder, "eventsEnabled": true,
	}, nil)
}

func (b *Browser) downloadEvent(e cdp.Event) {
	var v struct {
		GUID, URL, SuggestedFilename, State string
		TotalBytes, ReceivedBytes           float64
	}
	if json.Unmarshal(e.Params, &v) != nil || !plainID(v.GUID) {
		return
	}
	o := b.opts.Downloads
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.downloads.begun[v.GUID]
	if e.Method == "Browser.downloadWillBegin" {
		if len(b.downloads.list) >= mostListed {
			b.cancelDownload(v.GUID)
			return
		}
		d = &Download{URL: clean(v.URL, maxURL), Name: fileName(v.SuggestedFilename)}
		b.downloads.list = append(b.downloads.list, d)
		b.downloads.begun[v.GUID] = d
		switch {
		case o.Folder == "":
			d.Err = fmt.Errorf("downloads are not allowed here")
		case len(b.downloads.list) > o.MaxFiles:
			d.Err = fmt.Errorf("%d files were downloaded already", o.MaxFiles)
		}
		if d.Err != nil {
			b.cancelDownload(v.GUID)
		}
		b.tell()
		return
	}
	if d == nil {
		return
	}
	d.Bytes = int64(v.ReceivedBytes)
	if d.Err == nil && max(d.Bytes, int64(v.TotalBytes)) > o.MaxBytes {
		d.Err = fmt.Errorf("the file is larger than %d bytes", o.MaxBytes)
		b.cancelDownload(v.GUID)
	}
	if v.State == "inProgress" {
		return
	}
	saved := filepath.Join(o.Folder, v.GUID)
	switch {
	case d.Err != nil:
	case v.State == "completed":
		d.Path, d.Err = saveAs(o.Folder, saved, d.Name)
	default:
		d.Err = fmt.Errorf("the download was cancelled")
	}
	if d.Err != nil && o.Folder != "" {
		b.downloads.lost = append(b.downloads.lost, saved, saved+".crdownload")
	}
	d.Done = true
	delete(b.downloads.begun, v.GUID)
	b.tell()
}

// removeLost removes what the browser left of downloads that were not kept. Call it when it
// has ended: it writes on for a moment.
func (b *Browser) removeLost() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, d := range b.downloads.begun {
		if !d.Done && b.opts.Downloads.Folder != "" {
			saved := filepath.Join(b.opts.Downloads.Folder, id)
			b.downloads.lost = append(b.downloads.lost, saved, saved+".crdownload")
		}
	}
	for _, path := range b.downloads.lost {
		_ = os.Remove(path) // most are not there
	}
}

func (b *Browser) cancelDownload(id string) {
	b.work.Go(func() { _ = b.call(b.life, "", "Browser.cancelDownload", fields{"guid": id}, nil) })
}

// plainID reports whether an id can be the name of a file.
func plainID(id string) bool {
	return id != "" && len(id) < 100 && strings.Trim(id, "abcdefABCDEF0123456789-") == ""
}

// saveAs gives a file its name in the folder, or one with a number if there is such a file.
func saveAs(folder, saved, name string) (string, error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := 1; i < 1000; i++ {
		path := filepath.Join(folder, name)
		err := os.Link(saved, path) // unlike Rename it never replaces a file
		if err == nil {
			return path, os.Remove(saved)
		}
		if !os.IsExist(err) {
			f, made := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // no links here
			if made == nil {
				f.Close()
				return path, os.Rename(saved, path)
			}
			if !os.IsExist(made) {
				return "", made
			}
		}
		name = stem + "-" + strconv.Itoa(i+1) + ext
	}
	return "", fmt.Errorf("there are too many files called %s", name)
}

// maxFileName bounds a name, in bytes: a number may be added to it.
const maxFileName = 200

// fileName makes a plain name of one that a page suggests.
func fileName(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>|`, r) || !unicode.IsGraphic(r) {
			return '_'
		}
		return r
	}, s)
	s = strings.TrimSpace(strings.TrimLeft(clean(s, 1000), ". -"))
	s = strings.TrimRight(s, ". ")
	if len(s) > maxFileName {
		ext := filepath.Ext(s)
		if len(ext) > 20 {
			ext = ""
		}
		s = text.Prefix(s, maxFileName-len(ext)) + ext
	}
	base, _, _ := strings.Cut(strings.ToLower(s), ".")
	if s == "" || reserved[base] {
		return "download"
	}
	return s
}

// reserved names are devices on Windows.
var reserved = set("con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9")

// Downloads lists the downloads, also those that go on.
func (b *Browser) Downloads() []Download {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Download
	for _, d := range b.downloads.list {
		all = append(all, *d)
	}
	return all
}

// AwaitDownloads waits until no download goes on, and lists them.
func (b *Browser) AwaitDownloads(ctx context.Context) ([]Download, error) {
	err := b.wait(ctx, func() bool { return len(b.downloads.begun) == 0 })
	return b.Downloads(), err
}

// AwaitDownload waits until there are more downloads than a number of them, however far they are.
func (b *Browser) AwaitDownload(ctx context.Context, than int) error {
	return b.wait(ctx, func() bool { return len(b.downloads.list) > than })
}
