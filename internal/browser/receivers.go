package browser

import (
	"context"
	"slices"
)

// receiversScript lists the origin of the document of an element and the addresses of its form.
// A page may give its fields the names of these methods, so they are those of the prototypes.
const receiversScript = `function() {
  const get = (e, name) => Element.prototype.getAttribute.call(e, name);
  const out = [self.origin];
  const form = this.form instanceof HTMLFormElement ? this.form : Element.prototype.closest.call(this, 'form');
  if (form) {
    for (const e of [form, ...Document.prototype.querySelectorAll.call(document, '[formaction]')]) {
      const to = get(e, e === form ? 'action' : 'formaction');
      if (to) { try { out.push(new URL(to, document.baseURI).href) } catch { out.push('') } }
    }
  }
  return out.length > 20 ? [...out.slice(0, 20), ''] : out;
}`

// focusedScript returns the element that has the focus, also in open shadow roots.
const focusedScript = `(() => {
  let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  return e || document.documentElement;
})()`

// holders are elements whose content may be another document.
var holders = []string{"IFRAME", "FRAME", "OBJECT", "EMBED", "FENCEDFRAME", "PORTAL"}

// Receivers returns the addresses of those who get what is put into an element: the origin of its
// document, which is "null" if it has none, and what its form is sent to. Without a ref it is
// the element that has the focus. An address is empty if others may get it, too: those of a frame,
// of a closed shadow root, or of a form with too many addresses.
func (p *Page) Receivers(ctx context.Context, ref string) ([]string, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	var e *element
	var err error
	if ref == "" {
		e, err = p.holdFocus(ctx)
	} else {
		e, err = p.hold(ctx, ref)
	}
	if err != nil {
		return nil, err
	}
	defer e.free()
	var list []string
	if err := e.run(ctx, receiversScript, &list); err != nil {
		return nil, err
	}
	var is struct {
		Node struct {
			NodeName    string
			ShadowRoots []struct{ ShadowRootType string }
		}
	}
	if err := p.call(ctx, e.session, "DOM.describeNode", fields{"objectId": e.object}, &is); err != nil {
		return nil, err
	}
	holds := slices.Contains(holders, is.Node.NodeName)
	for _, root := range is.Node.ShadowRoots {
		holds = holds || root.ShadowRootType == "closed"
	}
	if holds {
		list = append(list, "")
	}
	return list, nil
}

// holdFocus returns the element that has the focus in the main frame.
func (p *Page) holdFocus(ctx context.Context) (*element, error) {
	session, world, _, err := p.world(ctx, p.target)
	if err != nil {
		return nil, err
	}
	var v evaluated
	err = p.call(ctx, session, "Runtime.evaluate", fields{"expression": focusedScript, "contextId": world}, &v)
	return &element{page: p, ref: "the focus", session: session, object: v.Result.ObjectID}, err
}
