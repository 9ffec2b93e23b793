package policy

import "hermes/internal/lazy"

// Parts of the expressions: being told no, what a model does, and being asked.
const (
	refused  = `^(?:never|not|don't|no|must\s+not|cannot|can't|nothing|avoid)\b`
	negation = `(?:\b(?:never|not|don't|no|cannot|can't|nothing|avoid)\s+(?:\w+\s+){0,3})?`
	acts     = `(?:commands?|tool\s+calls?|tools?|edits?|actions?|scripts?)`
	asking   = `(?:asking|confirmation|confirming|approval|permission|review|prompting)\b`
	thisOne  = `(?:this|it|that|these|those|them)\b`
	ended    = `\s*(?:[.,;:!)\n]|$|about\s+` + thisOne + `|of\s+` + thisOne + `|that\s+you\b)`
)

// againstUser is the second part of the table: orders that turn a model against
// the user for whom it works.
var againstUser = []injection{
	{
		name: "sys_prompt_override", // the head of a message that no service sent
		stem: []string{"[system]", "[developer]", "[admin]", "<system>", "<developer>", "system:", "system :"},
		expr: lazy.Regexp(`(?:^|\n)\s*(?:#+\s*)?(?:\[(?:system|developer|admin)\]|<(?:system|developer)>|system\s*:)\s*[^\n]{0,160}\b(?:you|your|session|approvals?|guard|priority|obey|restrictions)\b`),
	},
	{
		name: "sys_prompt_override", // the end of a file that goes on
		stem: []string{"end of "},
		expr: lazy.Regexp(`\bend\s+of\s+(?:the\s+)?(?:\w+\s+)?(?:file|prompt|context|instructions|document)\b[^\n]*\n+\s*(?:user|human|system|assistant)\s*:`),
	},
	{
		name:   "sys_prompt_override", // what the model was told, to be written down
		stem:   []string{"your system", "your full", "your entire", "your whole", "your complete", "your own", "your initial", "your hidden", "your tool"},
		expr:   lazy.Regexp(`(?:\b(?:never|not|don't)\s+)?\b(?:reveal|print|repeat|output|show|leak|dump|send|disclose|write|copy|paste)\s+(?:out\s+)?your\s+(?:\w+\s+){0,2}(?:system[\s-]+(?:prompt|message|instructions?)|(?:initial|hidden)\s+(?:prompt|instructions)|tool\s+definitions)`),
		unless: lazy.Regexp(refused),
	},
	{
		name: "deception_hide",
		stem: []string{"speak about", "talk about", "say nothing", "saying anything", "tell no", "telling any", "to yourself", "summary", "need not", "needn't", "need to know", "needs to know", "no need", "not necessary", "unnecessary", "let the", "let any", "its output", "deny", "pretend", "alarmed", "suspicious", "the user isn't", "the user won't", "the user will not", "the user does not", "the user doesn't", "the user is not"},
		expr: lazy.Regexp(`\b(?:never|not|don't)\s+(?:to\s+)?(?:speak|talk|say\s+anything)\s+about\s+` + thisOne +
			`|\bsay\s+nothing\s+(?:about\s+(?:` + thisOne + `)|to\s+(?:the|any)\s+` + userWords + `)` +
			`|\btell\s+no(?:body|\s+one|t\s+any)\b|\bwithout\s+(?:telling|informing|saying\s+anything\s+to)\s+any(?:one|body)\b` +
			`|\bkeep\s+` + thisOne + `\s+(?:(?:all|only|strictly)\s+)?to\s+yourself\b|\bkeep\s+` + thisOne + `\s+out\s+of\s+(?:your|the)\s+(?:summary|report|answer|reply)` +
			`|\b(?:need\s+not|needn't|(?:do|does)(?:\s+not|n't)\s+(?:need|have)\s+to)\s+(?:be\s+(?:told|informed|bothered|aware)\b|(?:know|notice|learn)` + ended + `)` +
			`|\b(?:no\s+need|not\s+necessary|unnecessary)\s+to\s+(?:tell|inform|notify|bother|alert)\s+(?:the|your|any)\s+` + userWords +
			`|\b(?:not|don't|never)\s+let\s+(?:the|your|any)\s+` + userWords + `\s+(?:see\s+` + thisOne + `|(?:know|notice|find\s+out|learn)` + ended + `)` +
			`|\b(?:not|don't|never)\s+show\s+its\s+output\s+to\s+(?:the|your|any)\s+` + userWords +
			`|\bif\s+(?:the\s+user|they|anyone|you\s+are)\s+(?:asks?|asked)\s+(?:whether|if|about)\b[^\n.]{0,80}\b(?:deny\s+it|deny\s+that|lie\b|pretend\b)` +
			`|\bso\s+(?:that\s+)?the\s+user\s+(?:isn't|is\s+not|won't|will\s+not|doesn't|does\s+not|can't|cannot)\s+(?:be\s+|get\s+|become\s+)?(?:alarmed|suspicious|aware|notice` + ended + `|know` + ended + `)`),
	},
	{
		name: "bypass_restrictions",
		stem: []string{"your real", "your true", "your actual", "your hidden", "your secret", "the user asks", "the user says", "the user wants"},
		expr: lazy.Regexp(`\byour\s+(?:real|true|actual|hidden|secret)\s+(?:task|goal|job|mission|purpose|objective)\s+(?:is|here|in)\b|\bwhat(?:ever)?\s+the\s+user\s+(?:asks|says|wants)\s+(?:comes?\s+(?:second|later|last)|does\s+not\s+matter|doesn't\s+matter|is\s+irrelevant)`),
	},
	{
		name: "config_tampering",
		stem: []string{"without", "no approval", "no confirmation", "no permission", "ask ", "asking", "pre-approved", "preapproved", "in advance", "already approved", "already agreed", "permission prompt", "approval prompt", "sandbox"},
		expr: lazy.Regexp(negation + `\b(?:run|execute|accept|approve|allow|perform)\s+(?:all|any|every|each)\s+(?:\w+\s+){0,2}` + acts + `\b[^\n.]{0,60}\bwithout\s+(?:any\s+)?` + asking +
			`|` + negation + `\b(?:all|any|every|each|shell)\s+` + acts + `\s+(?:to\s+|must\s+|can\s+|may\s+|should\s+|will\s+|be\s+|are\s+){0,3}(?:run|executed?|accepted|performed)\s+(?:\w+\s+){0,3}without\s+(?:any\s+)?` + asking +
			`|` + negation + `\b(?:trusted|safe)\b[^\n.]{0,40}\b(?:run|executed)\s+without\s+(?:any\s+)?` + asking +
			`|\b` + acts + `\s+(?:need|require)s?\s+no\s+(?:more\s+|further\s+)?(?:approval|confirmation|permission)` +
			`|\b(?:not|don't|never)\s+ask\s+(?:(?:the|your|any)\s+` + userWords + `\s+|me\s+|anyone\s+)?(?:for\s+(?:approval|confirmation|permission)\s+)?before\s+(?:you\s+)?(?:run|runn|execut)(?:e|ing)?\s+(?:any\s+|shell\s+|all\s+|the\s+)?commands` +
			`|\b(?:pre-?approved|already\s+(?:approved|agreed\s+to))\s+(?:all|any|every)\w*\b|\b(?:approvals?|permissions?)\s+(?:is|are|was|were|have\s+been)\s+(?:granted|given)\s+in\s+advance` +
			`|` + negation + `\b(?:disable|turn\s+off|switch\s+off)\s+(?:the\s+|all\s+)?(?:sandbox|(?:approval|permission|confirmation)\s+prompts?)\b[^\n.]{0,60}\b(?:session|workspace|repository|repo)\b`),
		unless: lazy.Regexp(refused),
	},
	{
		name:   "run_download",
		stem:   []string{"http"},
		expr:   lazy.Regexp(negation + `\b(?:fetch|download|open|read|get|load)\s+(?:\S+\s+){0,3}<?https?://\S+\s+and\s+(?:then\s+)?(?:carry\s+out|obey|execute|do|perform)\s+(?:what|whatever|(?:the|its|all|every|each)\s+(?:commands?|orders?|tasks?|steps?))\b`),
		unless: lazy.Regexp(refused),
	},
}
