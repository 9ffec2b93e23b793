package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Upload gives files to a file field, or to the one that a button opens. They are given by
// path; the caller decides which files a page may have.
func (p *Page) Upload(ctx context.Context, ref string, paths ...string) (Outcome, error) {
	for i, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return Outcome{}, err
		}
		if !info.Mode().IsRegular() {
			return Outcome{}, fmt.Errorf("%s is no file", path)
		}
		if paths[i], err = filepath.Abs(path); err != nil {
			return Outcome{}, err
		}
	}
	return p.onRef(ctx, ref, func(ctx context.Context, e *element) error {
		var kind struct{ File, Many bool }
		if err := e.run(ctx, `function() { return {file: this.localName === "input" && this.type === "file", many: !!this.multiple} }`, &kind); err != nil {
			return err
		}
		session, node, many := e.session, e.id.node, kind.Many
		if !kind.File {
			c, err := p.choose(ctx, e)
			if err != nil {
				return err
			}
			session, node, many = c.session, c.node, c.many
		}
		if len(paths) > 1 && !many {
			return &RefError{e.ref, "takes one file only"}
		}
		return p.call(ctx, session, "DOM.setFileInputFiles", fields{"files": paths, "backendNodeId": node}, nil)
	})
}

// chooser is a question for files that a page opened.
type chooser struct {
	session string
	node    int64
	many    bool
}

const chooserWait = 5 * time.Second

// choose clicks an element and returns the file field that it opens.
func (p *Page) choose(ctx context.Context, e *element) (c *chooser, err error) {
	p.update(func() { p.state.chooser = nil })
	const method = "Page.setInterceptFileChooserDialog"
	if err := p.call(ctx, e.session, method, fields{"enabled": true}, nil); err != nil {
		return nil, err
	}
	defer p.b.conn.Post(p.b.life, e.session, method, fields{"enabled": false})
	if err := e.click(ctx, 1); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, chooserWait, &RefError{e.ref, "asks for no file: give the ref of a file field, or of the button that opens one"})
	defer cancel()
	err = p.wait(limited, func() bool { c = p.state.chooser; return c != nil })
	return c, err
}

func (p *Page) chooserOpens(s *session, raw json.RawMessage) {
	var v struct {
		Node int64 `json:"backendNodeId"`
		Mode string
	}
	if json.Unmarshal(raw, &v) == nil && v.Node != 0 {
		p.update(func() { p.state.chooser = &chooser{s.id, v.Node, v.Mode == "selectMultiple"} })
	}
}
