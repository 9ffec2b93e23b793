package webpage_test

import (
	"strings"
	"testing"

	"hermes/internal/webpage"
)

// Words of menus and side columns are also words of texts.
func TestSectionsWithOrdinaryNamesStay(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("This is what the article has to say. ", 12) + "</p>"
	const prose = "<p>These are the words of the section, which nothing else on the page says.</p>"
	whole := func(part string) string {
		return webpage.Convert("<main><h1>Head</h1>"+text+part+"<h2>Next part</h2>"+text+"</main>", nil, 0).Text
	}
	for _, heading := range []string{
		"Shared memory", "Tagged unions", "Similarity search", "Subscribers", "Subscribe to events", "Recommended settings", "Related work", "Categories", "Filter", "Contents", "Assets", "Popular choices",
		"Archives", "Tags", "Comments", "Newsletter format", "More in depth", "Sharing data", "Share a folder", "Sign up a user", "See also the index", "Linked", "Did this change?",
	} {
		for _, tag := range []string{"h2", "h3"} {
			if got := whole("<" + tag + ">" + heading + "</" + tag + ">" + prose); !strings.Contains(got, heading) || !strings.Contains(got, "the words of the section") {
				t.Errorf("%s %s is gone", tag, heading)
			}
		}
	}
	if got := webpage.Convert("<main><h1>Head</h1>"+text+"<h3>Comments</h3>"+prose+"</main>", nil, 0).Text; !strings.Contains(got, "the words of the section") {
		t.Errorf("a last section about comments is gone: %s", got)
	}
	for _, heading := range []string{"Recommended settings", "Related tables", "Similar units"} {
		if got := whole("<h2>" + heading + "</h2><table><tr><td>size<td>4<tr><td>age<td>9</table><ul><li>one</ul>"); !strings.Contains(got, heading) || !strings.Contains(got, "| size | 4 |") {
			t.Errorf("%s with a table is gone: %s", heading, got)
		}
	}
	for _, line := range []string{"Similarly, x is y.", "Recommended: 16 GB of memory.", "Shared by all.", "Popular, but slow."} {
		if got := whole("<p>" + line + "</p>" + prose); !strings.Contains(got, line) {
			t.Errorf("%q is gone", line)
		}
	}
	for _, id := range []string{"tags", "filters", "actions", "privacy", "navigation", "related-work", "correlated-subqueries", "footer", "sidebar", "comments", "newsletter"} {
		if got := whole("<h2 id='" + id + "'>The heading</h2>" + prose); !strings.Contains(got, "## The heading\n\nThese are") {
			t.Errorf("the heading with the id %s is gone", id)
		}
	}
	for _, element := range []string{
		"<div class='alert alert-danger' role=alert>", "<div class='alert alert-info'>", "<div class='alert alert-success'>", "<div id=subscriptions>", "<div id=userinfo>", "<div class='print:mb-2 md:share'>",
		"<div class='correlated-example'>", "<div class=tools>", "<div id=filters>", "<div class=actions>", "<div class='unrelated box'>", "<div id=navigation>", "<div class=feedback-loop>",
	} {
		if got := whole(element + prose + prose + "</div>"); !strings.Contains(got, "the words of the section") {
			t.Errorf("%s is gone", element)
		}
	}
	for _, box := range []string{"alert-danger", "alert-info", "alert-success", "alert-warning"} {
		if got := whole("<div class='alert " + box + "'>Never do this.</div>"); !strings.Contains(got, "Never do this.") {
			t.Errorf("a short %s is gone", box)
		}
	}
}

// The same words, where what is below says that it is no text.
func TestPartsWithLinksBelowSuchNamesAreLeftOut(t *testing.T) {
	t.Parallel()
	text := "<p>" + strings.Repeat("This is what the article has to say. ", 12) + "</p>"
	links := "<ul><li><a href=/a>Another story</a><li><a href=/b>A third story about it</a></ul>"
	for _, part := range []string{
		"<h2>Related</h2>" + links, "<h2>Popular in news</h2>" + links, "<h3>Recommended reading this week</h3>" + links, "<h2>Tags</h2>" + links, "<p>See also</p>" + links, "<h2>Categories</h2>" + links,
		"<div class=tags>" + links + "</div>", "<div id=filters>" + links + "</div>", "<div class='related-posts'><h3>Up next</h3>" + links + "</div>", "<div class='newsletter'><p>Another story every week in your mailbox, and never more than one.</p></div>",
		"<h2>12 comments</h2><div>Another story, says somebody who has read this.</div>",
	} {
		if got := webpage.Convert("<main><h1>Head</h1>"+text+part+"</main>", nil, 0).Text; strings.Contains(got, "Another story") {
			t.Errorf("%s stays", part)
		}
	}
}
