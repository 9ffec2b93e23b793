package hermes

import (
	"slices"
	"strings"
	"unicode"
)

// Limits of a provenance.
const (
	maxSource  = 60 // characters of one source
	maxSources = 4  // sources of each kind; the newest are kept
)

const (
	betweenSources = "; "
	moreSources    = "…"
)

// ProvenanceSource returns the name of one source of untrusted text, made from
// the parts of what, such as "read_file" and a path. It is short and has no
// line breaks.
func ProvenanceSource(what ...string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == ';':
			return ','
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.Join(what, " "), ""))
	runes := []rune(strings.Join(strings.Fields(plain), " "))
	if len(runes) > maxSource {
		runes = append(runes[:maxSource-1], '…')
	}
	return string(runes)
}

// clientSource begins the source of what a client wrote.
const clientSource = "MCP client"

// ClientSource returns the source of what a client sent that is a program, and not the user. A turn
// with such a message is in [ModeAskUser], or a narrower mode.
func ClientSource(name string) string { return ProvenanceSource(clientSource, name) }

// sessionSource begins the source of what the model of another session wrote.
const sessionSource = "message from session"

// SessionSource returns the source of a message that another session of the same user sent. Its turn is
// treated as one that a client asked for.
func SessionSource(session string) string { return ProvenanceSource(sessionSource, session) }

// WithoutSessions returns a provenance without the sources from [SessionSource]. A message brings what its session
// has read along, so that without them it has what is more than the words of a model.
func WithoutSessions(provenance string) string {
	return strings.Join(slices.DeleteFunc(splitSources(provenance), isSession), betweenSources)
}

// FromSession reports whether a provenance has a source from [SessionSource].
func FromSession(provenance string) bool {
	return slices.ContainsFunc(splitSources(provenance), isSession)
}

func isSession(source string) bool { return strings.HasPrefix(source, sessionSource+" ") }

// FromClient reports whether a provenance has a source from [ClientSource] or [SessionSource].
func FromClient(provenance string) bool {
	for source := range strings.SplitSeq(provenance, betweenSources) {
		if isClient(source) {
			return true
		}
	}
	return false
}

func isClient(source string) bool {
	return source == clientSource || strings.HasPrefix(source, clientSource+" ") || isSession(source)
}

// chosenMark begins a source that the user chose: a file or a command of a trusted
// folder. It is weaker than other sources, see [OutsideProvenance].
const chosenMark = "project: "

// projectFile begins the name of a file with instructions for agents.
const projectFile = "project file "

// ProjectFileSource returns the source of a file with instructions for agents, such
// as AGENTS.md.
func ProjectFileSource(name string) string { return ProvenanceSource(projectFile + name) }

// IsProjectFile reports whether a source is from [ProjectFileSource] and its name is
// relative to the working folder and below it.
func IsProjectFile(source string) bool {
	name, ok := strings.CutPrefix(source, projectFile)
	return ok && !strings.HasPrefix(name, "..") && !strings.HasPrefix(name, "~") && !strings.HasPrefix(name, "/") && !strings.Contains(name, ":")
}

// MarkChosen marks the sources that the user chose, and removes the mark from all
// others. chosen is called with the name of a source without its mark.
func MarkChosen(provenance string, chosen func(source string) bool) string {
	list := splitSources(provenance)
	for i, s := range list {
		s = strings.TrimPrefix(s, chosenMark)
		if s != moreSources && chosen(s) {
			s = chosenMark + s
		}
		list[i] = s
	}
	return AddProvenance("", list...)
}

// OutsideProvenance returns the sources that the user did not choose. Text from
// them may not be kept for later sessions without approval; what the user chose may
// be remembered.
func OutsideProvenance(provenance string) string {
	return strings.Join(slices.DeleteFunc(splitSources(provenance), isChosen), betweenSources)
}

// WithoutSources returns a provenance without the sources in another one.
func WithoutSources(provenance, others string) string {
	known := splitSources(others)
	return strings.Join(slices.DeleteFunc(splitSources(provenance), func(s string) bool { return slices.Contains(known, s) }), betweenSources)
}

func isChosen(source string) bool { return strings.HasPrefix(source, chosenMark) }

// AddProvenance joins the sources in several provenances, in the form of
// [Message.Provenance]: each source once, in order. If there are too many, it
// keeps the newest and begins with "…". Sources that the user chose never displace
// others, and only sources from [ClientSource] and [SessionSource] displace one of these.
func AddProvenance(have string, more ...string) string {
	list := splitSources(have)
	for _, m := range more {
		for _, s := range splitSources(m) {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	cut := slices.Contains(list, moreSources)
	list = slices.DeleteFunc(list, func(s string) bool { return s == moreSources })
	list, _ = newest(list, isChosen)
	list, fewer := newest(list, isClient) // of which one is always kept: see FromClient
	list, older := newest(list, func(s string) bool { return !isChosen(s) && !isClient(s) })
	if cut || fewer || older {
		list = append([]string{moreSources}, list...)
	}
	return strings.Join(list, betweenSources)
}

// newest removes all but the newest of the sources of one kind.
func newest(list []string, kind func(string) bool) (kept []string, cut bool) {
	n := 0
	for _, s := range list {
		if kind(s) {
			n++
		}
	}
	return slices.DeleteFunc(list, func(s string) bool {
		if !kind(s) || n <= maxSources {
			return false
		}
		n, cut = n-1, true
		return true
	}), cut
}

func splitSources(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, betweenSources)
}

// TranscriptProvenance returns the provenance of a whole transcript: the
// sources of all untrusted text in it.
func TranscriptProvenance(transcript []Message) string {
	var all string
	for i := range transcript {
		if o := transcript[i].Provenance; o != "" {
			all = AddProvenance(all, o)
		}
	}
	return all
}
