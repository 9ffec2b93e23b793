package browser

import (
	"context"
	"encoding/json"
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
  return out.slice(0, 20);
}`

// focusReceivers does it for the element that has the focus, also in open shadow roots.
const focusReceivers = `(() => {
  let e = document.activeElement;
  while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement;
  return e instanceof HTMLIFrameElement ? [''] : e ? (` + receiversScript + `).call(e) : [self.origin];
})()`

// Receivers returns the addresses of those who get what is put into an element: the origin of its
// document, which is "null" if it has none, and what its form is sent to. Without a ref it is
// the element that has the focus; of one in a frame, an address is empty.
func (p *Page) Receivers(ctx context.Context, ref string) ([]string, error) {
	if ref == "" {
		focus, err := p.Evaluate(ctx, focusReceivers)
		var list []string
		if err == nil {
			err = json.Unmarshal([]byte(focus), &list)
		}
		return list, err
	}
	p.acting.Lock()
	defer p.acting.Unlock()
	e, err := p.hold(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer e.free()
	var list []string
	err = e.run(ctx, receiversScript, &list)
	return list, err
}
