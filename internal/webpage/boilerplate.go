package webpage

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// words is a list of words between spaces.
type words string

func (w words) has(name string) bool { return strings.Contains(string(w), " "+name+" ") }

// What pages name their parts, in classes and ids.
const (
	// noiseWords are whole words of names.
	noiseWords words = " ad ads adv advert adslot gpt sponsored nav navbar navigation menu mn flyout topbar topnav share shr shares sharing sharebar soc social sns " +
		"cookie cookies consent cmp gdpr privacy onetrust reco recos recommended upsell crosssell toc footer foot ft ftr colophon copyright crumb crumbs " +
		"bc login signin signup nl newsletter widget sidebar side sidebox masthead jumpbox postprofile signature votecell votes vote likes reactions " +
		"teaser cta promo promos banner rating toolbar tools actions skip pagination pager pn pager tags tag taglist taglinks gutter lineno linenos " +
		"editsection headerlink edit catlinks noprint navbox metadata bio facets filter filters sort breadcrumb breadcrumbs " +
		"tracking print affiliate disclaimer relart kanren xiangguan subscribe alert alerts announcement pinglun "
	// noisePieces are parts of names that mean the same in any of them.
	noisePieces words = " sidebar newsletter breadcrumb cookie related footer advert sponsor recommend popular trending subscri sharing sharedaddy social paginat " +
		"navigation colophon tablefcontents tableofcontents editmeta announcement jumpto mostread readnext readmore morestories morerecipes whoisonline outbrain taboola " +
		"feedback siteheader sitefooter skiplink screenreader userinfo "
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

// names splits the class and id of an element into words, also where a big letter begins one.
func names(n *html.Node) nameParts {
	var parts nameParts
	for _, key := range []string{"class", "id"} {
		name := attribute(n, key)
		if key == "id" && (n.DataAtom == atom.Section || strings.Count(name, "-") > 2 || strings.Contains(attribute(n, "class"), "section")) {
			continue // made from the words of a heading
		}
		if len(name) > 400 {
			name = name[:400]
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
	}
	return parts
}

// named reports whether an element's name says that it is not content.
func (f *finder) named(n *html.Node) bool {
	parts := names(n)
	if len(parts) == 0 || parts.has(noteWords) {
		return false
	}
	if !f.comments && parts.has(commentWords) {
		return true
	}
	if parts.has(wallWords) {
		f.walled = true
		return true
	}
	if parts.has(noiseWords) {
		return true
	}
	joined := strings.Join(parts, "")
	for piece := range strings.FieldsSeq(string(noisePieces)) {
		if strings.Contains(joined, piece) {
			return true
		}
	}
	return false
}

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

// labels are the words above parts that are not content: whole, or as its beginning where
// it ends in a star.
const labels = "|related*|read also|read next|read more|also read|see also|more from*|more in*|more stories*|more on this*|more recipes*|you may also*|you might also*|" +
	"recommended*|most read|most popular|most viewed|popular*|trending*|top stories|today s top stories|latest news|recent posts|recent comments|recently viewed*|archives|categories|" +
	"share*|follow us*|follow along|comments|comment|leave a reply|leave a comment|post a comment|join the conversation|newsletter*|advertisement*|sponsored*|from our partners*|" +
	"customers also*|customers who*|readers who*|also bought|frequently bought*|similar*|was this*|did this*|have more questions*|on this page|in this article|contents|table of contents|" +
	"hot network questions|linked|your answer|who is online*|previous topic|next topic|tags|tagged*|sign up*|subscribe*|about your cookies|we value your privacy|shop our*|filter|" +
	"articles in this section|browse nearby*|cite this*|what do you think*|enjoying this*|follow the topics*|assets|share this|post navigation|this page|quick search|" +
	"اقرأ أيضا|اقرأ أيضًا|التعليقات|الأكثر قراءة|مواضيع ذات صلة|شارك*|إعلان|עוד ב*|תגובות|פרסומת|כתבות נוספות|תגיות*|הנקראות ביותר|" +
	"相关阅读|相关新闻|相关文章|网友评论|评论|热点排行|热门*|推荐阅读|分享到*|广告|延伸阅读|関連記事|人気ランキング|人気記事|おすすめ*|ランキング|シェア*|コメント|広告|관련기사|관련 기사|댓글|많이 본*|" +
	"lesen sie auch|mehr zum thema|das könnte sie auch*|kommentare|meistgelesen|anzeige|à lire aussi|lire aussi|sur le même sujet|commentaires|publicité|les plus lus|" +
	"te puede interesar|lee también|noticias relacionadas|comentarios|publicidad|lo más leído|leia também|mais lidas|comentários|publicidade|leggi anche|commenti|pubblicità|i più letti|" +
	"читайте также|комментарии|реклама|самое читаемое|lees ook|reacties|meest gelezen|czytaj także|komentarze|reklama|läs också|les også|"

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

// isLabel reports whether a text is in labels.
func isLabel(text string) bool {
	if len(text) > 100 {
		return false
	}
	text = strings.ToLower(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), " "))
	begin := text
	for i := range text {
		if i > 0 && utf8.RuneCountInString(text[:i]) == 3 {
			begin = text[:i]
			break
		}
	}
	if text == "" || !strings.Contains(labels, "|"+begin) && !strings.Contains(labels, "|"+begin[:len(begin)-len(lastRune(begin))]+"*|") {
		return false // for speed
	}
	if strings.Contains(labels, "|"+text+"|") {
		return true
	}
	for i := range text {
		if i > 0 && strings.Contains(labels, "|"+text[:i]+"*|") {
			return true
		}
	}
	return strings.Contains(labels, "|"+text+"*|")
}

func lastRune(s string) string {
	_, size := utf8.DecodeLastRuneInString(s)
	return s[len(s)-size:]
}

// labelled drops a label and what is below it, if the label says that it is not content.
func (f *finder) labelled(n *html.Node) bool {
	if n == f.title || !isLabel(content(n, 110)) {
		return false
	}
	if f.comments && strings.Contains(strings.ToLower(content(n, 110)), "comment") {
		return false
	}
	heading := headingTag(n)
	if !heading && f.sizes[n].text > 40 {
		return false
	}
	f.remove(n)
	for c := n.NextSibling; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if headingTag(c) && (!heading || c.Data <= n.Data) {
			break
		}
		s, ok := f.sizes[c]
		if !ok {
			if inlined(c) && !silent(c) {
				f.drop[c] = true
			}
			continue
		}
		if !f.small(c) || f.title != nil && within(f.title, c) || !heading && s.prose > 0 && !s.linky() {
			break
		}
		if s.text > 0 {
			f.remove(c)
		}
	}
	return true
}
