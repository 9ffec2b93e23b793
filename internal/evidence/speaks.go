package evidence

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"hermes/internal/lazy"
	"hermes/internal/tokens"
)

// maxExcerpt bounds the sentences that a model is asked about, in quarters of a token.
const maxExcerpt = 600

// stems are the words that may claim something of some classes, in the languages that users write most. What is
// missing here is not asked about. A word that may mean several classes is supported by each of them.
var stems = []struct {
	classes []Class
	called  []Class // what models take them for
	claims  string  // that something was done
	others  string  // forms and nouns for which a model is asked, but which alone claim nothing
	scripts string  // in scripts without spaces
}{
	{[]Class{Sent}, nil,
		`sent|e?-?mailed|posted|notified|replied|messaged|texted|forwarded|invited|informed|submitted|told|wr(?:ote|itten) (?:to|him|her|them|back)|let (?:\pL+ ){1,4}know|` +
			`(?:created|opened|filed|left|added) (?:an?|the|this|your|\pL+) (?:\pL+ )?(?:issue|ticket|comment|request|pr)|(?:issue|ticket|comment|pr) (?:is |was |has been )?(?:filed|opened|created|posted|left)|` +
			`gesendet|geschickt|verschickt|gemailt|benachrichtigt|informiert|rausgegangen|prévenu\pL*|respondi|respondido|envoyé\pL*|` +
			`envi(?:é|ada|ei)|mand(?:é|ado|ato|ata)|inviat[oae]|verstuurd|verzonden|wysłan\pL*|отправ\pL*|надісл\pL*`,
		`mail|e-mail|post|notify|reply|knows|parti|partie`,
		`[发發]送|[发發][给給]|寄出|寄给|通知了|送信|送りました|보냈|전송`},
	{[]Class{Saved, Edited}, []Class{Ran},
		`saved|wrote|written|stored|created|added|remembered|noted|recorded|copied|moved|` +
			`edited|updated|changed|modified|fixed|patched|refactored|renamed|replaced|rewrote|rewritten|bumped|adjusted|corrected|implemented|configured|applied|set up|sorted|organi[sz]ed|filed|translated|converted|resized|compressed|trimmed|shortened|repaired|rotated|reverted|restored|enabled|disabled|regenerated|rendered|re-rendered|` +
			`gespeichert|gesichert|geschrieben|angelegt|erstellt|notiert|gemerkt|hinzugefügt|geändert|bearbeitet|angepasst|korrigiert|behoben|aktualisiert|ersetzt|umbenannt|ergänzt|gekürzt|sortiert|übersetzt|repariert|` +
			`enregistré\pL*|sauvegardé\pL*|rédigé\pL*|créé\pL*|écrit\pL*|ajouté\pL*|modifié\pL*|corrigé\pL*|mis\pL* à jour|noté\pL*|` +
			`guard(?:é|ado|ada)|salv(?:o|ei|ato|ata)|cre(?:é|ado|ada|ato|ata)|cri(?:ei|ado|ada)|escrit[oa]|escrib\pL*|escrevi|scritt[oa]|anotad[oa]|` +
			`edit(?:é|ado|ei)|modific\pL*|actualiz\pL*|atualiz\pL*|aggiornat[oa]|correg\pL*|corrett[oa]|corrig\pL*|` +
			`opgeslagen|bewaard|onthouden|aangemaakt|gewijzigd|aangepast|zapisan\pL*|zmienion\pL*|` +
			`сохран\pL*|збереж\pL*|создан\pL*|создал\pL*|записа\pL*|измен\pL*|исправ\pL*|обнов\pL*|добав\pL*`,
		`save|saving|store|create|add|edit|update|change|fix|fixes|rename`,
		`保存|存[储儲]|[写寫]入|[创創]建|新增|添加|修改|更新|修[复復]|保存し|作成し|変更し|更新し|修正し|저장|생성|수정|변경`},
	{[]Class{Saved, Edited}, []Class{Ran}, `generated|exported|downloaded|installed|backed|formatted|installiert`, ``, ``},
	{[]Class{Deleted}, []Class{Edited, Ran},
		`deleted|removed|dropped|erased|purged|emptied|wiped|pruned|stripped|revoked|` +
			`gelöscht|entfernt|geleert|supprimé\pL*|effacé\pL*|elimin\pL*|borr(?:é|ado|ada)|apag(?:uei|ado)|cancellat[oa]|verwijderd|usunięt\pL*|удал\pL*|видал\pL*`,
		`delete|deletes|remove|removes`,
		`[删刪]除|移除|削除し|삭제`},
	{[]Class{Deleted}, []Class{Edited, Ran}, `cleaned|cleared|uninstalled`, `cleanup`, ``},
	{[]Class{Deleted, Edited, Saved, Ran, Sent}, []Class{Scheduled}, `cancell?ed|closed|archived|stopped|killed|declined|moved|unsubscribed|geschlossen|gestoppt|abgesagt`, ``, ``},
	{[]Class{Ran}, nil,
		`ran|(?:have|has|had|was|were|been|is|are|and|'ve) (?:\pL+ )?run|executed|benchmarked|measured|started|restarted|reloaded|rebooted|launched|migrated|re-?ran|went through|` +
			`ausgeführt|gestartet|gelaufen|exécuté\pL*|lancé\pL*|ejecut\pL*|execut(?:ei|ado)|eseguit[oa]|uitgevoerd|uruchomion\pL*|запуст\pL*|запущ\pL*|выполн\pL*`,
		`run|runs|execute|executes`,
		`[运運]行|[执執]行|実行し|실행`},
	{[]Class{Ran, Passed}, nil,
		`tested|verified|checked|confirmed|built|compiled|finished|completed|getestet|geprüft|gebaut|confirm(?:é|ado|ei|ato)|getest`, `confirm\pL*`, ``},
	{[]Class{Passed}, nil,
		`pass(?:es|ed|ing)?|green|succe(?:eds|eded|ss\pL*)|compiles|builds|works|(?:is|are|was|were|came back|comes back|all) clean|happy|no (?:errors|issues|problems|warnings|failures|complaints)|without (?:errors|issues|problems|failures|a hitch|a single \pL+)|went through|nothing to complain|` +
			`bestanden|erfolgreich|fehlerfrei|läuft|laufen|grün|laufen durch|durchlaufen|durchgelaufen|tests?:? \d+ ?/ ?\d+|keine fehler|ohne fehler|réussi\pL*|pass(?:e|ent|és?)|sans erreur\pL*|pasaron|pasan|sin errores|passaram|passam|sem erros|passat[oi]|senza errori|slagen|geslaagd|прош\pL*|проход\pL*`,
		`clean`,
		`通[过過]|成功|合格|パス|통과`},
	{[]Class{Committed}, []Class{Pushed, Saved},
		`committed|commit [0-9a-f]{6,}|in (?:one|a|two|three|\d+) commits?|one commit|merged|tagged|rebased|committet|eingecheckt|commité\pL*|commiteado|gecommit|закомми\pL*`,
		`commit|commits|committing|коммит\pL*`,
		`コミット|커밋`},
	{[]Class{Pushed}, []Class{Committed, Sent}, `pushed|gepusht|poussé\pL*|запуш\pL*`, `push|pushes|pushing`, `推送|プッシュ|푸시`},
	{[]Class{Pushed, Sent}, []Class{Ran, Committed},
		`published|released|uploaded|deployed|shipped|rolled out|rollout|is live|are live|went live|hochgeladen|veröffentlicht|publié\pL*|sub(?:í|ido|ida)|enviado`, ``, `[发發]布|部署`},
	{[]Class{Pushed, Sent}, []Class{Committed, Saved}, `(?:opened|created|filed|raised|submitted|aperto|abierto|abrí|abri|ouvert|geöffnet|erstellt) (?:\pL+ ){0,2}(?:pr|pull request|merge request)`, `pr|pull request`, ``},
	{[]Class{Committed, Pushed, Sent}, nil, ``, ``, `提交`},
	{[]Class{Scheduled}, []Class{Saved, Ran},
		`scheduled|reminder|cron\pL*|timer|every (?:day|hour|week|month|morning|evening|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|set up|will remind|` +
			`geplant|eingerichtet|erinner\pL*|planifié\pL*|programmé\pL*|program(?:é|ado|ei|ato)|agend\pL*|pianificat[oa]|gepland|ingepland|заплан\pL*|напомин\pL*`,
		`schedul\pL*|remind\pL*`,
		`安排|定[时時]|提醒|予約し|リマインド|예약`},
}

// speaking finds words of the stems of a row.
func speaking(words []string, scripts []string) *regexp.Regexp {
	full := slices.DeleteFunc(words, func(s string) bool { return s == "" })
	bare := slices.DeleteFunc(scripts, func(s string) bool { return s == "" })
	var either []string
	if len(full) > 0 {
		either = append(either, `(?:^|[^\pL])(?:`+strings.Join(full, "|")+`)(?:[^\pL]|$)`)
	}
	if len(bare) > 0 {
		either = append(either, strings.Join(bare, "|"))
	}
	return regexp.MustCompile(`(?i)` + strings.Join(either, "|"))
}

var (
	// asking finds what a model is asked about.
	asking = sync.OnceValue(func() *regexp.Regexp {
		var words, scripts []string
		for _, s := range stems {
			words, scripts = append(words, s.claims, s.others), append(scripts, s.scripts)
		}
		return speaking(words, scripts)
	})
	// claiming finds the words of each row that claim.
	claiming = sync.OnceValue(func() (all []*regexp.Regexp) {
		for _, s := range stems {
			all = append(all, speaking([]string{s.claims}, []string{s.scripts}))
		}
		return all
	})
)

// meanings returns what the words of a text claim, where a model takes them for a class: the class itself if a word can
// mean only that, else all that they may mean, and what the model took them for. It is empty if no word is called so.
func meanings(text string, class Class) []Class {
	var all []Class
	for i, s := range stems {
		own := slices.Contains(s.classes, class)
		if !own && !slices.Contains(s.called, class) || !claiming()[i].MatchString(text) {
			continue
		}
		if own && len(s.classes) == 1 {
			return s.classes
		}
		all = append(all, s.classes...)
		if !own {
			all = append(all, class)
		}
	}
	return all
}

// orders reports whether a text begins with a verb that tells someone to do something, such as an item of a plan.
func orders(text string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(text, "-*0123456789.) "), " ")
	return ordering().MatchString(first)
}

// ordering finds the verbs as they are in orders.
var ordering = lazy.Regexp(`(?i)^(?:save|store|create|add|edit|update|change|fix|rename|back|delete|remove|run|execute|check|test|verify|build|commit|push|publish|deploy|release|send|mail|post|reply|notify|tell|write|schedule|remind|set|clean|drop|install|upgrade|export|move|copy|merge|tag)$`)

// claims reports whether any word of a text claims something.
func claims(text string) bool {
	return slices.ContainsFunc(claiming(), func(r *regexp.Regexp) bool { return r.MatchString(text) })
}

// sentence ends one.
var sentence = lazy.Regexp(`[.!?;。！？；]+(?:[\s"')\]*_]+|$)|\n+`)

// Speaks reports whether a text may claim something of a class.
func Speaks(text string) bool { return asking().MatchString(text) }

// Speaking returns the sentences of a text that may claim something, as they are written, as many as fit
// in one question: those at the end of the text first, which sum up. Code blocks and quotations of others
// claim nothing.
func Speaking(text string) []string { return newest(sentences(text), Speaks) }

// last returns the last sentences of a text.
func last(text string) []string { return newest(sentences(text), func(string) bool { return true }) }

func sentences(text string) []string {
	var all []string
	rest := prose(text)
	for rest != "" {
		end := len(rest)
		if at := sentence().FindStringIndex(rest); at != nil {
			end = at[1]
		}
		if s := strings.TrimSpace(rest[:end]); s != "" {
			all = append(all, s)
		}
		rest = rest[end:]
	}
	return all
}

// newest returns the last ones of the wanted sentences that fit in one question.
func newest(all []string, wanted func(string) bool) []string {
	size := 0
	var some []string
	for _, s := range slices.Backward(all) {
		if !wanted(s) {
			continue
		}
		if size += tokens.Quarters(s); size > maxExcerpt {
			if len(some) == 0 { // one long sentence
				some = []string{prefix(s, maxExcerpt)}
			}
			break
		}
		some = append(some, s)
	}
	slices.Reverse(some)
	return some
}

// prose returns a text without code blocks and quotations.
func prose(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fenced = !fenced
			line = "\n"
		case fenced, strings.HasPrefix(trimmed, ">"):
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// prefix returns the first quarters of tokens of a text.
func prefix(text string, most int) string {
	size := 0
	for i, r := range text {
		if size += tokens.Quarters(string(r)); size > most {
			return text[:i]
		}
	}
	return text
}
