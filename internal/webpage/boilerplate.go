package webpage

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// words is a list of words between spaces.
type words string

func (w words) has(name string) bool { return strings.Contains(string(w), " "+name+" ") }

// What pages name their parts, in classes and ids.
const (
	// noiseWords are whole words of names that only parts beside the text have.
	noiseWords words = " ads adv advert adslot gpt sponsored navbar mn flyout topnav shr sharebar soc sns cookie cookies consent cmp gdpr onetrust reco recos upsell crosssell " +
		"colophon copyright crumb crumbs nl newsletter widget sidebar sidebox masthead jumpbox postprofile votecell cta promo promos pagination pager pn taglist taglinks " +
		"gutter lineno linenos editsection headerlink catlinks noprint navbox breadcrumb breadcrumbs relart kanren xiangguan pinglun "
	// maybeWords are words that parts beside the text have, and some with the text.
	maybeWords words = " ad nav navigation menu topbar share shares sharing social privacy recommended toc foot ft ftr bc login signin signup side signature vote votes likes " +
		"reactions teaser banner rating toolbar tools actions skip tags tag edit metadata bio facets filter filters sort tracking print affiliate disclaimer subscribe alert alerts announcement "
	// noisePieces are the beginnings of words that mean the same in any name, also across its dashes.
	noisePieces words = " sidebar newsletter breadcrumb cookie advert sponsor sharedaddy paginat colophon tablefcontents tableofcontents editmeta jumpto mostread readnext readmore " +
		"morestories morerecipes whoisonline outbrain taboola siteheader sitefooter footer skiplink screenreader "
	maybePieces words = " related recommend popular trending subscri sharing social navigation announcement feedback userinfo "
	// commentWords name comments of readers.
	commentWords words = " comment comments cmt cmts commentlist commentsection comentarios kommentare respond disqus cms pinglun replies "
	// wallWords name what is in the place of a text that is only for subscribers.
	wallWords words = " barrier paywall regwall "
	// noteWords name parts beside the text that belong to it.
	noteWords words = " note tip warning admonition callout example important caution hint infobox "
)

// nameParts are the words in the class and the id of an element.
type nameParts []string

func (p nameParts) has(w words) bool {
	for _, part := range p {
		if w.has(part) {
			return true
		}
	}
	return false
}

// note reports whether a name is of a box with text, such as a warning.
func (p nameParts) note() bool {
	return p.has(noteWords) || p.has(" alert alerts ") && p.has(" info danger success primary secondary ")
}

// names splits the class and id of an element into words.
func names(n *html.Node) nameParts {
	var parts nameParts
	for name := range strings.FieldsSeq(limited(attribute(n, "class"))) {
		parts = append(parts, split(name)...)
	}
	return append(parts, split(idOf(n))...)
}

// idOf returns the id of an element, or "" if it may be made from the words of a heading.
func idOf(n *html.Node) string {
	id := limited(attribute(n, "id"))
	if n.DataAtom == atom.Section || strings.Count(id, "-") > 2 || strings.Contains(attribute(n, "class"), "section") {
		return ""
	}
	return id
}

func limited(name string) string { return name[:min(len(name), 400)] }

// split splits a name into words, also where a big letter begins one. Names with signs of a program that makes
// styles have none: print:mb-2 says how an element is printed.
func split(name string) (parts []string) {
	if strings.ContainsAny(name, ":[/") {
		return nil
	}
	start := 0
	var before rune
	for i, r := range name {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter || 'a' <= before && before <= 'z' && 'A' <= r && r <= 'Z' {
			if i > start {
				parts = append(parts, strings.ToLower(name[start:i]))
			}
			start = i
			if !letter {
				start = i + len(string(r))
			}
		}
		before = r
	}
	if start < len(name) {
		parts = append(parts, strings.ToLower(name[start:]))
	}
	return parts
}

// begins reports whether a name has one of the pieces at the beginning of one of its words.
func begins(parts []string, pieces words) bool {
	for i := range parts {
		rest := strings.Join(parts[i:min(i+4, len(parts))], "")
		for piece := range strings.FieldsSeq(string(pieces)) {
			if strings.HasPrefix(rest, piece) {
				return true
			}
		}
	}
	return false
}

// named reports whether an element's name says that it is not content. A name that may also be one of the content
// must not have prose, unless a second sign says the same.
func (f *finder) named(n *html.Node) bool {
	parts := names(n)
	if len(parts) == 0 || headingTag(n) || parts.note() {
		return false
	}
	if !f.comments && parts.has(commentWords) {
		return true
	}
	if parts.has(wallWords) {
		f.walled = true
		return true
	}
	s := f.sizes[n]
	signs := 0
	for class := range strings.FieldsSeq(limited(attribute(n, "class"))) {
		parts := split(class)
		if nameParts(parts).has(noiseWords) || begins(parts, noisePieces) {
			return true
		}
		found := 0
		for _, part := range parts {
			if maybeWords.has(part) || begins([]string{part}, maybePieces) {
				found++
			}
		}
		if found == 0 && begins(parts, maybePieces) {
			found = 1
		}
		signs += found
	}
	if signs > 0 && (s.prose < littleProse || s.linky() || signs > 1) {
		return true
	}
	id := split(idOf(n)) // it may be made from the words of a heading
	switch {
	case nameParts(id).has(noiseWords) || begins(id, noisePieces):
		return s.prose < littleProse || s.linky() || signs > 0
	case nameParts(id).has(maybeWords) || begins(id, maybePieces):
		return s.linky() || s.prose == 0 && s.links >= 3 || signs > 0
	}
	return false
}

// littleProse is less than a short paragraph, in letters.
const littleProse = 100

// inlineNoise reports whether an element within a line is not content.
func inlineNoise(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Label:
		return true
	case atom.A:
		if strings.HasPrefix(attribute(n, "href"), "#") && !strings.ContainsFunc(content(n, 40), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return true // the sign of a link to a heading
		}
		return names(n).has(" btn button ")
	case atom.Span:
		return names(n).has(" pagination editsection badge ")
	}
	return false
}

// labels are the words above parts that are not content: whole, or as its first words where it ends in a star.
const labels = "|related articles*|related posts*|related stories*|related news*|related content*|related products*|related questions*|related reading|related coverage|" +
	"read also|read next|read more|also read|more stories*|more on this*|more recipes*|you may also*|you might also*|recommended for you*|recommended articles|recommended stories|" +
	"recommended reading|most read|most viewed|popular posts|popular articles|popular stories|popular now|trending now|trending stories|top stories|today s top stories|latest news|" +
	"recent posts|recent comments|recently viewed*|share this|share this article*|share this page*|share this post*|share this story*|share on|follow us*|follow along|leave a reply|leave a comment|post a comment|" +
	"join the conversation|advertisement*|sponsored*|from our partners*|customers also*|customers who*|readers who*|also bought|frequently bought*|similar articles|similar products|similar items|" +
	"was this helpful*|was this page*|was this article*|did this answer*|have more questions*|on this page|in this article|table of contents|hot network questions|your answer|who is online*|previous topic|next topic|" +
	"sign up for our*|subscribe to our*|subscribe now|about your cookies|we value your privacy|shop our*|articles in this section|browse nearby*|what do you think*|enjoying this*|" +
	"follow the topics*|post navigation|quick search|cite this entry|cite this page|" +
	"اقرأ أيضا|اقرأ أيضًا|التعليقات|الأكثر قراءة|مواضيع ذات صلة|شارك*|إعلان|עוד ב*|תגובות|פרסומת|כתבות נוספות|תגיות*|הנקראות ביותר|" +
	"相关阅读|相关新闻|相关文章|网友评论|评论|热点排行|热门*|推荐阅读|分享到*|广告|延伸阅读|関連記事|人気ランキング|人気記事|おすすめ*|ランキング|シェア*|コメント|広告|관련기사|관련 기사|댓글|많이 본*|" +
	"lesen sie auch|mehr zum thema|das könnte sie auch*|kommentare|meistgelesen|anzeige|à lire aussi|lire aussi|sur le même sujet|commentaires|publicité|les plus lus|" +
	"te puede interesar|lee también|noticias relacionadas|comentarios|publicidad|lo más leído|leia também|mais lidas|comentários|publicidade|leggi anche|commenti|pubblicità|i più letti|" +
	"читайте также|комментарии|реклама|самое читаемое|lees ook|reacties|meest gelezen|czytaj także|komentarze|reklama|läs också|les også|"

// maybeLabels are words above parts that are not content, and above some that are: "Related work", "Shared memory".
const maybeLabels = "|related*|see also|more from*|more in*|recommended*|most popular|popular*|trending*|archives|categories|share*|comments|comment|newsletter*|similar*|contents|linked|" +
	"tags|tagged*|sign up*|subscribe*|filter|cite this*|assets|this page|was this*|did this*|"

// label reports whether an element is a heading, or a short line that may act as one.
func label(n *html.Node) bool {
	if n.FirstChild == nil {
		return false
	}
	if headingTag(n) {
		return true
	}
	switch n.DataAtom {
	case atom.P, atom.Div, atom.Dt, atom.Summary:
		for c := range n.ChildNodes() {
			if c.Type == html.ElementNode && !inlined(c) {
				return false
			}
		}
		return true
	}
	return false
}

// isLabel reports whether a text is in a list of labels, and whether it has no more words than the label.
func isLabel(list, text string) (is, exact bool) {
	if strings.Contains(list, "|"+text+"|") || strings.Contains(list, "|"+text+"*|") {
		return true, true
	}
	for i, r := range text {
		// languages without spaces have no ends of words
		if i > 0 && (r == ' ' || dense(r)) && strings.Contains(list, "|"+strings.TrimSpace(text[:i])+"*|") {
			return true, false
		}
	}
	return false, false
}

// labelled drops a label and what is below it, if the label says that it is not content. Below a label that is
// also used in texts, only links are dropped, and what is no prose if the label says nothing else.
func (f *finder) labelled(n *html.Node) bool {
	original := content(n, 110)
	if n == f.title || len(original) > 100 {
		return false
	}
	text := strings.ToLower(strings.Join(strings.FieldsFunc(original, func(r rune) bool { return !unicode.IsLetter(r) }), " "))
	if text == "" || f.comments && strings.Contains(text, "comment") {
		return false
	}
	sure, _ := isLabel(labels, text)
	maybe, exact := isLabel(maybeLabels, text)
	heading := headingTag(n)
	if !sure && !maybe || !heading && f.sizes[n].text > 40 {
		return false
	}
	sure = sure || strings.HasPrefix(text, "comment") && heading && strings.ContainsAny(original, "0123456789") // those of readers are counted
	below := f.below(n, heading, sure)
	if !sure {
		var all size
		for _, c := range below {
			all = all.plus(f.sizes[c])
		}
		linky := all.linky() || !heading && f.sizes[n].linky()
		if !linky && (!exact || !heading || all.prose > 0) {
			return false
		}
	}
	f.remove(n)
	for _, c := range below {
		if s, ok := f.sizes[c]; !ok {
			f.drop[c] = true
		} else if s.text > 0 {
			f.remove(c)
		}
	}
	return true
}

// below returns what is below a label: up to the next heading, or, below a short line that is none, up to prose.
func (f *finder) below(n *html.Node, heading, sure bool) (list []*html.Node) {
	for c := n.NextSibling; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if headingTag(c) && (!heading || c.Data <= n.Data) {
			return list
		}
		s, ok := f.sizes[c]
		if !ok {
			if inlined(c) && !silent(c) {
				list = append(list, c)
			}
			continue
		}
		if !f.small(c) || f.title != nil && within(f.title, c) || !heading && (s.prose > 0 || !sure && len(list) > 0) && !s.linky() {
			return list
		}
		list = append(list, c)
	}
	return list
}
