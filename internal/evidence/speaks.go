package evidence

import (
	"strings"

	"hermes/internal/lazy"
	"hermes/internal/tokens"
)

// maxExcerpt bounds the sentences that a model is asked about, in quarters of a token.
const maxExcerpt = 600

// speaking are stems of words that claim something, in the languages that users write most. What is
// missing here is not asked about.
var speaking = lazy.Regexp(`(?i)(?:^|[^\pL])(?:` +
	// English
	`sent|mail(?:ed)?|e-?mailed|post(?:ed)?|notif(?:y|ied)|repl(?:y|ied)|messaged|texted|forwarded|invited|` +
	`sav(?:e|ed|ing)|wr(?:ote|itten)|stored?|created?|added?|remembered|noted|recorded|generated|exported|downloaded|installed|backed|copied|moved|` +
	`edit(?:ed)?|updated?|changed?|modified|fix(?:ed|es)?|patched|refactored|renamed?|replaced|rewr(?:ote|itten)|bumped|adjusted|corrected|implemented|configured|formatted|applied|` +
	`delet(?:e|ed|es)|remov(?:e|ed|es)|dropped|erased|purged|clean(?:ed|up)|uninstalled|` +
	`ran|run|runs|execut\pL*|tested|verified|checked|confirmed|built|compiled|benchmarked|started|restarted|launched|deployed|migrated|` +
	`pass(?:es|ed|ing)?|green|succe(?:ed|eds|eded|ss\pL*)|compiles|builds|works|clean|no errors|` +
	`commit(?:s|ted|ting)?|merged|tagged|rebased|push(?:ed|es|ing)?|published|released|uploaded|pr|pull request|` +
	`schedul\pL*|cron\pL*|remind\pL*|timer|every (?:day|hour|week|morning|night|monday)|` +
	// German
	`gesendet|geschickt|verschickt|gemailt|benachrichtigt|gespeichert|geschrieben|angelegt|erstellt|notiert|gemerkt|hinzugefügt|installiert|` +
	`geändert|bearbeitet|angepasst|korrigiert|behoben|aktualisiert|ersetzt|umbenannt|gelöscht|entfernt|ausgeführt|gestartet|gelaufen|getestet|geprüft|gebaut|` +
	`bestanden|erfolgreich|fehlerfrei|läuft|laufen|grün|laufen durch|committet|eingecheckt|gepusht|hochgeladen|veröffentlicht|geplant|eingerichtet|erinner\pL*|` +
	// French
	`envoyé\pL*|enregistré\pL*|sauvegardé\pL*|créé\pL*|écrit\pL*|ajouté\pL*|modifié\pL*|corrigé\pL*|mis à jour|supprimé\pL*|effacé\pL*|exécuté\pL*|lancé\pL*|réussi\pL*|pass(?:e|ent|és?)|` +
	`commité\pL*|poussé\pL*|publié\pL*|planifié\pL*|programmé\pL*|` +
	// Spanish, Portuguese and Italian
	`envi(?:é|ado|ada|ei)|mand(?:é|ado|ato|ata)|inviat[oae]|guard(?:é|ado|ada)|salv(?:o|ei|ato|ata)|cre(?:é|ado|ada|ato|ata)|cri(?:ei|ado|ada)|escrit[oa]|escrib\pL*|escrevi|scritt[oa]|` +
	`edit(?:é|ado|ei)|modific\pL*|actualiz\pL*|atualiz\pL*|aggiornat[oa]|correg\pL*|corrett[oa]|corrig\pL*|elimin\pL*|borr(?:é|ado|ada)|apag(?:uei|ado)|cancellat[oa]|` +
	`ejecut\pL*|execut(?:ei|ado)|eseguit[oa]|pasaron|pasan|passaram|passam|passat[oi]|confirm\pL*|sub(?:í|ido|ida)|enviado|program(?:é|ado|ei|ato)|agend\pL*|pianificat[oa]|` +
	// Dutch and Polish
	`gecommit|gepusht|slagen|getest|verstuurd|verzonden|opgeslagen|aangemaakt|gewijzigd|aangepast|verwijderd|uitgevoerd|geslaagd|gepland|wysłan\pL*|zapisan\pL*|zmienion\pL*|usunięt\pL*|uruchomion\pL*|` +
	// Russian and Ukrainian
	`отправ\pL*|надісл\pL*|сохран\pL*|збереж\pL*|создан\pL*|создал\pL*|записа\pL*|измен\pL*|исправ\pL*|обнов\pL*|добав\pL*|удал\pL*|видал\pL*|запуст\pL*|запущ\pL*|выполн\pL*|прош\pL*|закомми\pL*|коммит\pL*|запуш\pL*|заплан\pL*` +
	`)(?:[^\pL]|$)` +
	// scripts without spaces
	`|[发發]送|寄出|寄给|通知了|保存|存[储儲]|[写寫]入|[创創]建|新增|添加|修改|更新|修[复復]|[删刪]除|移除|[运運]行|[执執]行|通[过過]|成功|提交|推送|[发發]布|安排|定[时時]|送信|保存し|作成し|変更し|更新し|修正し|削除し|実行し|合格|パス|コミット|プッシュ|予約し|보냈|전송|저장|생성|수정|변경|삭제|실행|통과|커밋|푸시|예약`)

// sentence ends one.
var sentence = lazy.Regexp(`[.!?;。！？；]+(?:[\s"')\]*_]+|$)|\n+`)

// Speaks reports whether a text may claim something of a class.
func Speaks(text string) bool { return speaking().MatchString(text) }

// Speaking returns the sentences of a text that may claim something, as they are written, as many as fit
// in one question: those at the end of the text first, which sum up. Code blocks and quotations of others
// claim nothing.
func Speaking(text string) []string { return newest(sentences(text, Speaks)) }

// last returns the last sentences of a text.
func last(text string) []string { return newest(sentences(text, func(string) bool { return true })) }

func sentences(text string, wanted func(string) bool) []string {
	var all []string
	rest := prose(text)
	for rest != "" {
		end := len(rest)
		if at := sentence().FindStringIndex(rest); at != nil {
			end = at[1]
		}
		if s := strings.TrimSpace(rest[:end]); s != "" && wanted(s) {
			all = append(all, s)
		}
		rest = rest[end:]
	}
	return all
}

// newest returns the last ones of sentences that fit in one question.
func newest(all []string) []string {
	size, first := 0, len(all)
	for i := len(all) - 1; i >= 0; i-- {
		if size += tokens.Quarters(all[i]); size > maxExcerpt {
			if first == len(all) { // one long sentence
				all[i], first = prefix(all[i], maxExcerpt), i
			}
			break
		}
		first = i
	}
	return all[first:]
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
