package browser

// The scripts below run in a world of their own: the page neither sees nor changes them.

const focusScript = `function(text) {
	if (!this.isConnected) return {gone: true};
	const el = this.nodeType === 1 ? this : this.parentElement;
	if (el.matches(":disabled")) return {error: "is disabled"};
	if (el.readOnly) return {error: "is read-only"};
	el.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
	if (el.localName === "input") {
		if (["checkbox", "radio", "button", "submit", "reset", "image"].includes(el.type)) return {error: "is no text field: click it"};
		if (el.type === "file") return {error: "takes files: upload to it"};
		if (["date", "time", "datetime-local", "month", "week", "color", "range"].includes(el.type)) {
			el.focus();
			const old = el.value;
			el.value = text;
			if (el.value !== text && (el.type !== "range" || Number(el.value) !== Number(text)) && el.value.toLowerCase() !== text.toLowerCase()) {
				el.value = old;
				const like = {date: "2026-01-31", time: "14:05", "datetime-local": "2026-01-31T14:05", month: "2026-01", week: "2026-W05", color: "#00ff00"}[el.type];
				return {error: like ? "takes a value such as " + like : "takes a number from " + (el.min || 0) + " to " + (el.max || 100)};
			}
			el.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
			el.dispatchEvent(new Event("change", {bubbles: true}));
			return {done: true};
		}
	}
	const field = el.localName === "input" || el.localName === "textarea";
	if (!field && !el.isContentEditable) {
		if (el.localName === "select") return {error: "is a list: select an option of it"};
		return {error: "is no text field"};
	}
	el.focus();
	let active = el.getRootNode().activeElement;
	if (!active || active !== el && !el.contains(active) && !active.contains(el)) return {error: "does not take the focus"};
	if (field) {
		el.select();
	} else {
		const range = el.ownerDocument.createRange(), chosen = el.ownerDocument.defaultView.getSelection();
		range.selectNodeContents(el);
		chosen.removeAllRanges();
		chosen.addRange(range);
	}
	return {};
}`

// valueScript also says whether the field has lost the focus without having got the text.
const valueScript = `function(text) {
	const el = this.nodeType === 1 ? this : this.parentElement;
	const field = el.localName === "input" || el.localName === "textarea";
	const value = field ? el.value : el.innerText || "", plain = s => s.replace(/\s/g, "");
	let active = el.getRootNode().activeElement;
	const here = active && (active === el || el.contains(active) || active.contains(el));
	return {value: field && el.type === "password" ? "•".repeat(value.length) : value,
		lost: !here && !plain(value).includes(plain(text))};
}`

const selectScript = `function(wanted) {
	if (!this.isConnected) return {gone: true};
	let el = this;
	if (el.localName === "option") el = el.closest("select");
	if (!el || el.localName !== "select") return {error: "is no list of options: click it, and then the option"};
	if (el.matches(":disabled")) return {error: "is disabled"};
	if (wanted.length !== 1 && !el.multiple) return {error: "takes one option"};
	const all = [...el.options], text = o => (o.label || o.text).trim().replace(/\s+/g, " ");
	const chosen = [];
	for (const w of wanted) {
		const o = all.find(o => text(o) === w) || all.find(o => o.value === w) || all.find(o => text(o).toLowerCase() === w.trim().toLowerCase());
		if (!o) return {error: "has no option " + JSON.stringify(w) + "; it has " + all.slice(0, 30).map(text).join(" | ")};
		if (o.disabled || o.parentElement.disabled) return {error: "has the option " + JSON.stringify(w) + ", but it is disabled"};
		chosen.push(o);
	}
	el.focus();
	for (const o of all) o.selected = chosen.includes(o);
	el.dispatchEvent(new Event("input", {bubbles: true, composed: true}));
	el.dispatchEvent(new Event("change", {bubbles: true}));
	return {value: [...el.selectedOptions].map(text).join(" | ")};
}`

const scrollScript = `function(dx, dy) {
	const el = this.nodeType === 1 ? this : this.parentElement;
	const doc = el.ownerDocument, view = doc.defaultView;
	const can = n => {
		const s = getComputedStyle(n), root = n === doc.scrollingElement;
		const y = n.scrollHeight > n.clientHeight + 1 && (root || /auto|scroll|overlay/.test(s.overflowY));
		const x = n.scrollWidth > n.clientWidth + 1 && (root || /auto|scroll|overlay/.test(s.overflowX));
		return dy ? y : x;
	};
	let at = el;
	while (at && !can(at)) at = at.parentElement || at.getRootNode().host || null;
	if (!at) { // the largest part that scrolls
		let size = 0;
		for (const n of doc.querySelectorAll("*")) {
			const area = n.clientWidth * n.clientHeight;
			if (area > size && can(n)) { at = n; size = area; }
		}
	}
	if (!at) return {moved: 0, y: 0, height: 0};
	const w = at === doc.scrollingElement ? view.innerWidth : at.clientWidth, h = at === doc.scrollingElement ? view.innerHeight : at.clientHeight;
	const x = at.scrollLeft, y = at.scrollTop;
	at.scrollBy({left: dx * w * 0.85, top: dy * h * 0.85, behavior: "instant"});
	return {moved: Math.abs(at.scrollTop - y) + Math.abs(at.scrollLeft - x), y: dy ? at.scrollTop : at.scrollLeft, height: dy ? at.scrollHeight - h : at.scrollWidth - w};
}`

const imagesScript = `(() => {
	const list = [];
	const look = root => {
		for (const n of root.querySelectorAll("*")) {
			if (list.length >= 300) return;
			if (n.shadowRoot) look(n.shadowRoot);
			if (n.localName !== "img") continue;
			const r = n.getBoundingClientRect();
			const src = n.currentSrc || n.src;
			if (src) list.push({url: src.slice(0, 2000), text: (n.alt || n.title || "").slice(0, 300), width: n.naturalWidth, height: n.naturalHeight, shown: r.width > 0 && r.height > 0});
		}
	};
	look(document);
	return list;
})()`

// movesScript counts the moves of the mouse that a document saw since this was first called.
const movesScript = `function() {
	const view = this.ownerDocument.defaultView;
	if (!view.hermesMoves) {
		view.hermesMoves = {n: 0, x: 0, y: 0};
		view.addEventListener("mousemove", e => { view.hermesMoves = {n: view.hermesMoves.n + 1, x: e.clientX, y: e.clientY} }, {capture: true, passive: true});
	}
	return view.hermesMoves;
}`

// drawnScript waits until the page is drawn again, or for a short time if it is not.
const drawnScript = `new Promise(r => { requestAnimationFrame(r); setTimeout(r, 50); }).then(() => 0)`
