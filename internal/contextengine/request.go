package contextengine

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hermes/internal/tokens"
)

// mostTelling keeps the requests that say most about the work, of at most so
// many tokens: the newest, the newest that say more than to go on, the first,
// which often names the whole task, those with rules, and then the others,
// newest first.
func mostTelling(requests []string, most int) []string {
	requests = lastOfEqual(requests)
	n := len(requests)
	kept, left, count := make([]bool, n), most, 0
	// keep adds up to so many requests, newest first, while tokens are left.
	keep := func(wanted func(string) bool, times, reserve int) {
		for i := n - 1; i >= 0 && times > 0; i-- {
			if !wanted(requests[i]) {
				continue
			}
			times--
			cost := tokens.Text(requests[i]) + 2
			if kept[i] || count >= maxRequests || cost > left-reserve && count > 0 {
				continue
			}
			kept[i] = true
			left -= cost
			count++
		}
	}
	all := func(string) bool { return true }
	keep(all, newest, 0)
	keep(saysMore, newest, 0)
	if n > 0 {
		first := requests[0]
		keep(func(r string) bool { return r == first }, 1, 0)
	}
	keep(hasRule, maxRules, left/4)
	keep(saysMore, n, 0)
	keep(all, n, 0)
	var out []string
	for i, k := range kept {
		if k {
			out = append(out, requests[i])
		}
	}
	return out
}

// lastOfEqual removes requests that are repeated later.
func lastOfEqual(requests []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, r := range slices.Backward(requests) {
		if !seen[r] {
			seen[r] = true
			out = append(out, r)
		}
	}
	slices.Reverse(out)
	return out
}

// ruleWords mark requests that apply to the rest of the work, in the most
// common languages.
var ruleWords = []string{
	"always", "never", "must", "don't", "do not", "only ", "prefer", "make sure", "from now on", "remember", "without ", "avoid", "no more than", "stick to",
	"immer", "niemals", "nie ", "nicht ", "kein", "nur ", "ab jetzt", "ohne ",
	"siempre", "nunca", "solo ", "sólo", "no debes", "sin ", "sempre", "mai ", "não ", "non ", "apenas", "sem ",
	"toujours", "jamais", "ne pas", "seulement", "uniquement", "sans ",
	"всегда", "никогда", "только", "нельзя", "не ", "без ", "нужно",
	"必须", "不要", "不能", "不得", "禁止", "总是", "始终", "永远", "只能", "只用", "しないで", "必ず", "常に", "だけ", "禁止", "항상", "절대", "하지 마", "반드시", "만 ",
	"دائما", "أبدا", "لا ", "فقط", "हमेशा", "कभी", "केवल", "मत ",
}

func hasRule(request string) bool {
	lower := strings.ToLower(request)
	return slices.ContainsFunc(ruleWords, func(w string) bool { return strings.Contains(lower, w) })
}

// nudges begin short messages that only say to go on.
var nudges = []string{
	"ok", "yes", "yep", "sure", "go on", "go ahead", "continue", "proceed", "next", "good", "great", "nice", "perfect", "thanks", "thank you", "keep going", "looks good", "lgtm",
	"ja", "gut", "weiter", "danke", "super", "passt", "sí", "si,", "vale", "bien", "sigue", "continúa", "gracias", "oui", "d'accord", "merci", "continuez", "sim", "obrigad",
	"да", "хорошо", "дальше", "продолжай", "спасибо", "好", "继续", "可以", "谢谢", "是的", "はい", "続けて", "ありがとう", "네", "계속", "좋아",
}

// nudgeChars is how long a message may be that only says to go on.
const nudgeChars = 40

// saysMore reports whether a request says more than to go on.
func saysMore(request string) bool {
	if utf8.RuneCountInString(request) > nudgeChars {
		return true
	}
	lower := strings.ToLower(request)
	return !slices.ContainsFunc(nudges, func(w string) bool { return strings.HasPrefix(lower, w) })
}

// lastOf returns the last items, limited in number and in tokens.
func lastOf(items []string, count, most int) []string {
	reversed := slices.Clone(items)
	slices.Reverse(reversed)
	return items[len(items)-fits(reversed, count, most):]
}

// fits returns how many items from the first on are within the limits in
// number and in tokens.
func fits(items []string, count, most int) int {
	for i := range items[:min(len(items), count)] {
		if most -= tokens.Text(items[i]) + 2; most < 0 {
			return i
		}
	}
	return min(len(items), count)
}
