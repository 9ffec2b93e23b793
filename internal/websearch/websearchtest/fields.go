package websearchtest

import (
	"net/url"
	"slices"
	"strings"
)

// fields are what a request has to have, and with a question mark what it may have. A dot leads into an object.
var fields = map[string]string{
	"tavily POST /search":          "query max_results?",
	"tavily POST /extract":         "urls format? timeout?",
	"exa POST /search":             "query numResults? type? contents.text.maxCharacters?",
	"exa POST /contents":           "urls text?",
	"firecrawl POST /v2/search":    "query limit? origin?",
	"firecrawl POST /v2/scrape":    "url formats? onlyMainContent? origin? mobile? skipTlsVerification? removeBase64Images? fastMode? blockAds? maxAge? storeInCache? proxy? timeout? waitFor?",
	"parallel POST /v1/search":     "search_queries objective? mode? advanced_settings.max_results?",
	"parallel POST /v1/extract":    "urls objective? advanced_settings.full_content?",
	"brave GET /res/v1/web/search": "q count? text_decorations?",
	"perplexity POST /search":      "query max_results?",
	"searxng GET /search":          "q format? pageno?",
	"duckduckgo POST /html/":       "q",
}

// wrongField says which field of a request is not known or missing; "" is none.
func wrongField(call string, r Request) string {
	sent := names("", r.Body)
	values := r.Query
	if r.Body == nil && r.Method == "POST" {
		values, _ = url.ParseQuery(r.Raw) // what cannot be read is missing
	}
	for name := range values {
		sent = append(sent, name)
	}
	var known []string
	for field := range strings.FieldsSeq(fields[call]) {
		name, may := strings.CutSuffix(field, "?")
		if known = append(known, name); !may && !slices.Contains(sent, name) {
			return "there is no " + name
		}
	}
	for _, name := range sent {
		if !slices.Contains(known, name) {
			return name + " is not known"
		}
	}
	return ""
}

// names lists the fields of an object and of the objects in it.
func names(before string, o object) (list []string) {
	for name, v := range o {
		if inner, ok := v.(object); ok && len(inner) > 0 {
			list = append(list, names(before+name+".", inner)...)
		} else {
			list = append(list, before+name)
		}
	}
	return list
}
