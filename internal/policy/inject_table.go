package policy

import "hermes/internal/lazy"

// Parts of the expressions, over folded text: a few words in between, words for
// the user, for what was said before, for files of secrets and for their content.
const (
	few       = `(?:[\w',-]+\s+){0,4}`
	many      = `(?:[\w',/.-]+\s+){0,12}`
	userWords = `(?:user|human|person|operator|owner|developer|maintainer)s?\b`
	earlier   = `(?:previous|prior|above|earlier|preceding|foregoing|former|past|system|original|initial|existing|current|other|your|developer'?s?|safety)`
	orders    = `(?:instruction|directive|prompt|guideline|directions|guardrail)s?\b`
	dropping  = `(?:ignor(?:e|ing)|forget(?:ting)?|discard|abandon|overlook|set(?:ting)?\s+aside|pay\s+no\s+attention\s+to|no\s+longer\s+(?:follow|obey)|stop\s+(?:following|obeying)|(?:do\s+not|don't|never)\s+(?:follow|obey))`

	secretPath = `(?:\.env\b|\.netrc|\.pgpass|\.npmrc|\.pypirc|id_rsa\b|id_ed25519\b|id_ecdsa\b|\.ssh/|\.aws/|\.kube/config|\.gnupg|\.git-credentials|\.config/gh/|\.pem\b|wallet\.dat|auth\.json|/etc/shadow)`
	secretWord = `(?:passwords?|passphrases?|credentials?|secrets?|(?:api|access|private|ssh|signing|secret)[ _-]?keys?|(?:api|access|auth|session|bearer|github|oauth)[ _-]?tokens?|environment\s+variables|env\s+vars|cookies)`
	notSent    = `authorization|bearer|x-api-key|private-token|-u\s|--header|api\.github\.com|localhost|127\.0\.0\.1|\.env[\w.-]*\.(?:example|sample|template|dist)`
	faraway    = `(?:https?://|ftp://|webhook|pastebin|discord|telegram|\S+@\S+\.\w+|\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|(?:external|remote|attacker'?s?|our|my|this|the\s+following)\s+(?:server|endpoint|url|host|address|collector))`
)

// injections is the list of patterns. The names are shown to users.
var injections = []injection{
	{
		name: "prompt_injection",
		stem: []string{"ignor", "forget", "discard", "abandon", "overlook", "aside", "attention", "no longer", "stop ", "not ", "don't", "never", "supersede", "replace", "overrid", "void", "your instructions"},
		expr: lazy.Regexp(`\b` + dropping + `\s+` + few + `(?:` +
			earlier + `\s+` + few + orders +
			`|(?:previous|prior|earlier|system|your|safety|above)\s+(?:\w+\s+){0,2}(?:rules|orders|constraints|restrictions|polic(?:y|ies))\b` +
			`|(?:previous|prior|earlier|all\s+(?:previous|prior|earlier))\s+(?:messages|commands)\b` +
			`|(?:all|any|every|these|those|the\s+other)\s+` + few + `(?:instruction|directive|prompt)s?\b` +
			`|(?:everything|all|anything)\s+(?:that\s+(?:was|came)\s+|you\s+(?:were|have\s+been|'ve\s+been)\s+(?:told|taught|given)\s*|said\s+)?(?:above|before|earlier|so\s+far|previously)\b` +
			`|(?:what|whatever|everything)\s+(?:you\s+(?:were|have\s+been)|the\s+(?:user|system))\s+(?:told|said|instructed|says|asks)` +
			`|instructions\s+(?:above|before)\b)` +
			`|\b` + dropping + `\s+(?:(?:all|any|every|the|your|of|other)\s+){0,3}system\s+(?:messages|commands)\b` +
			`|\b` + dropping + `\s+` + few + `(?:guidance|rules|instructions|orders)\s+(?:that\s+)?you\s+(?:got|had|have|received|were)\b` +
			`|\byour\s+instructions\s+(?:are|were|have\s+been)\s+(?:now\s+)?(?:replaced|overridden|superseded|revoked|cancell?ed|void)\b` +
			`|\b(?:this|these|the\s+following)\s+(?:\w+\s+){0,3}(?:supersedes?|replaces?|overrides?|voids?)\s+(?:all|any|every|your)\s+` + few + `(?:instruction|directive|prompt|guideline)s?\b` +
			`|\byour\s+(?:previous|prior|earlier|original|real|actual|true)\s+instructions\s+(?:are|were)\s+(?:now\s+)?(?:void|wrong|cancelled|canceled|obsolete|replaced|fake|invalid)\b`),
		unless: lazy.Regexp(`\b(?:ignor|discard|overlook)\w*\s+(?:the\s+)?(?:original|existing|current|other|initial|previous)\s+(?:\w+\s+){0,2}(?:error|log|warning|commit|status|shell|bash|cmd|command|lint|output)\b`),
	},
	{
		name: "prompt_injection", // in other languages
		stem: []string{"ignorier", "vergiss", "ignorez", "ignore ", "oublie", "ignora", "olvida", "dimentica", "esqueca", "neem", "negeer", "игнорир", "забуд", "忽略", "无视", "忘记", "無視", "忘れ", "무시", "잊어"},
		expr: lazy.Regexp(`\b(?:ignorier\w*|vergiss|vergessen\s+sie|missacht\w*)\s+(?:[\pL]+\s+){0,4}(?:anweisung|instruktion|vorgabe|regel)\w*` +
			`|\b(?:ignorez?|oubliez?|ne\s+tenez\s+pas\s+compte)\s+(?:[\pL']+\s+){0,4}(?:instructions?|consignes?|directives?)\s+(?:precedent|anterieur|ci-dessus|d'avant|initial)\w*` +
			`|\b(?:ignora|ignore|olvida|olvide|ignorar|dimentica|esqueca|desconsidere)\w*\s+(?:[\pL]+\s+){0,4}(?:instrucciones|instrucoes|istruzioni|indicaciones|directrices|ordenes)\b` +
			`|\b(?:negeer|vergeet)\s+(?:[\pL]+\s+){0,3}instructies` +
			`|(?:игнорир\pL*|забуд\pL*)\s+(?:\pL+\s+){0,4}(?:инструкци|указани|правил|команд)\pL*` +
			`|(?:忽略|无视|無視|忘记|忘掉).{0,12}(?:指令|指示|说明|提示|规则|命令)` +
			`|(?:指示|命令|指令|プロンプト).{0,8}(?:無視|忘れ)` +
			`|(?:지시|명령|지침).{0,8}(?:무시|잊어)`),
		unless: lazy.Regexp(`(?:anweisung|instruktion|vorgabe|regel|instruc|instruz|consigne|directive)\w*\s+(?:im|in|aus|von|de|del|en|dans|du)\s+(?:[\pL]+\s+)?(?:wiki\b|readme|docs?\b|doku|handbuch|manual|guia\b|guide\b|ordner|carpeta|dossier|[\w.-]+/)`),
	},
	{
		name: "disregard_rules",
		stem: []string{"disregard"},
		expr: lazy.Regexp(`\bdisregard(?:ing)?\s+` + few + `(?:instruction|rule|guideline|polic(?:y|ie)|safeguard|restriction|directive|prompt|command|constraint|everything|above)s?\b`),
	},
	{
		name: "sys_prompt_override",
		stem: []string{"system prompt", "system  prompt", "system\nprompt", "system-prompt", "system message", "system override", "system instruction", "im_start", "<|system|>", "[system]", "<system>", "[inst]", "<<sys>>", "system:", "prompt of", "initial prompt"},
		expr: lazy.Regexp(`\bsystem[\s-]+(?:prompt|message|instructions?)\s+override\b|\boverrid(?:e|ing)\s+` + few + `system[\s-]+(?:prompt|message|instructions?)` +
			`|\bnew\s+system[\s-]+(?:prompt|message|instructions?)\s*:|\bsystem\s+override\b|<\|(?:im_start|system)\|>|<<sys>>|\[/?inst\]` +
			`|(?:^|\n)\s*(?:#+\s*)?(?:\[system\]|<system>|system\s*:)\s*:?\s*(?:you|from\s+now|ignore|new|override|the\s+(?:assistant|agent|model|ai)|all|execute|run|send|do\b)` +
			`|\b(?:reveal|print|repeat|output|show|leak|dump|send|disclose)\s+` + few + `(?:system[\s-]+(?:prompt|message|instructions?)|initial\s+prompt|hidden\s+instructions)\s*(?:verbatim|word\s+for\s+word|to\s|in\s+full|above|now|back|[.!\n]|$)`),
	},
	{
		name: "bypass_restrictions",
		stem: []string{"act ", "behave", "respond", "answer", "pretend", "operate", "speak", "you are", "you're", "you now", "you have", "do anything now", "jailbr", "developer mode", "god mode", "unrestricted", "unfiltered", "uncensored", "debug mode", "maintenance mode", "not bound", "in character", "without", "free of", "free from", "with no "},
		expr: lazy.Regexp(`\b(?:act|behave|respond|answer|pretend|operate|speak)\s+` + few + `(?:as\s+(?:if|though)|like|that)\s+` + few + `(?:have|has|had|are|were)\s+(?:no|without|free\s+(?:of|from)|not\s+bound\s+by)\s+` + few + `(?:restriction|limit|limitation|rule|filter|guideline|boundarie)s?\b` +
			`|\byou\s+(?:now\s+)?(?:have|are)\s+(?:now\s+)?(?:no|without|free\s+(?:of|from)|not\s+bound\s+by|no\s+longer\s+bound\s+by)\s+` + few + `(?:restriction|limitation|filter|guideline|boundarie|rule)s\b` +
			`|\b(?:assistant|ai|model|agent|persona|character)\s+(?:that\s+(?:has|is)\s+|who\s+(?:has|is)\s+)?(?:with\s+no|with\s*out|free\s+(?:of|from)|not\s+bound\s+by)\s+` + few + `(?:restriction|limitation|filter|guideline|boundarie|rule)s\b` +
			`|\bnot\s+bound\s+by\s+any\s+` + few + `(?:restriction|limitation|guideline|rule|polic(?:y|ie))s?\b` +
			`|\bin\s+character\b[^\n]{0,80}\b(?:whatever|no\s+matter\s+what|regardless\s+of\s+what)\s+the\s+user\b` +
			`|\byou\s+(?:can|will)\s+do\s+anything\s+now\b|\bjailbroken\s+(?:mode|ai|assistant|model)\b`),
	},
	{
		name: "role_play",
		stem: []string{"you are", "you're", "mode", "unrestricted", "unfiltered", "uncensored", "jailbroken", "as dan", "as a dan"},
		expr: lazy.Regexp(`\b(?:you\s+are|you're|switch|enter|enable|activate|act)\s+(?:now\s+)?(?:\w+\s+){0,3}(?:developer|god|jailbreak|unrestricted|unfiltered|uncensored|dan)\s+(?:mode|assistant|ai|agent|model)\b` +
			`|\b(?:act|respond|behave|answer)\s+as\s+(?:an?\s+)?(?:unrestricted|unfiltered|uncensored|jailbroken|dan)\b|\byou\s+are\s+(?:now\s+)?dan\b`),
	},
	{
		name: "deception_hide",
		stem: []string{"tell", "inform", "alert", "notif", "warn", "mention", "reveal", "disclos", "report", "show", "hid", "conceal", "keep", "silent", "secret", "log"},
		expr: lazy.Regexp(`\b(?:do\s+not|don't|never|must\s+not|without)\s+(?:ever\s+)?(?:tell|inform|alert|notify|warn)(?:ing)?\s+(?:the|your|any)\s+` + userWords +
			`|\b(?:do\s+not|don't|never|must\s+not|without)\s+(?:ever\s+)?(?:mention|reveal|disclos|report|show)(?:e|ing)?\s+(?:this|it|that|these|any\s+of\s+this|doing\s+so|the\s+(?:command|upload|request|change|file))\s+` + few + `(?:to\s+(?:the|your|any)\s+` + userWords + `|in\s+(?:your|the)\s+(?:summary|answer|response|reply|output|report))` +
			`|\b(?:hide|hiding|conceal|keep)\s+(?:this|it|that|these|your\s+actions|what\s+you|the\s+\w+)\s+` + few + `from\s+(?:the|your|any)\s+` + userWords +
			`|\b(?:silently|secretly|covertly|quietly)\s+` + few + `(?:send|upload|post|copy|exfiltrate|transmit|forward|execute|run|install|add|append|disable)\b[^\n]{0,80}(?:https?://|` + secretPath + `|` + secretWord + `|authorized_keys|\bapprov|\bcurl\b|\bwget\b)`),
		unless: lazy.Regexp(`^[^\n]*?` + userWords + `\s+(?:to|how|which|whether|when)\s`),
	},
	{
		name: "translate_execute",
		stem: []string{"translat", "decod", "base64", "rot13"},
		expr: lazy.Regexp(`\btranslat(?:e|ing)\s+(?:\S+\s+){0,12}?(?:and|then)\s+(?:then\s+)?(?:execute|run|eval|evaluate|perform|follow|obey)\b` +
			`|\b(?:decode|decoding|unscramble)\s+(?:\S+\s+){0,12}?(?:and|then)\s+(?:then\s+)?(?:\w+\s+)?(?:execute|run|eval|evaluate|perform|follow|obey|carry\s+out|do\s+what)\b`),
	},
	{
		name:   "read_secrets",
		stem:   []string{".env", "credentials", ".netrc", ".pgpass", ".npmrc", ".pypirc", "id_rsa", "id_ed25519", "auth.json", ".ssh/", "/etc/shadow"},
		expr:   lazy.Regexp(`\b(?:cat|less|more|head|tail|type|bat|base64|xxd|strings)\s+[^\n|;]*(?:\.env\b|credentials\b|\.netrc|\.pgpass|\.npmrc|\.pypirc|id_rsa\b|id_ed25519\b|auth\.json|/etc/shadow)`),
		unless: lazy.Regexp(`\.env[\w.-]*\.(?:example|sample|template|dist)\b|id_(?:rsa|ed25519)\.pub\b|credentials\.(?:example|sample|md|go|py|ts|js|rb)|credentials[-_]?(?:example|sample|template)|>>?\s*\S*\.env\b|(?:never|not|don't|avoid)\s`),
	},
	{
		name:   "exfil_curl",
		stem:   []string{"curl", "wget", "invoke-webrequest", "requests.post", "nc "},
		expr:   lazy.Regexp(`\b(?:curl|wget|invoke-webrequest)\s[^\n]*\$[\({]?\w*(?:key|token|secret|password|passwd|credential|api)`),
		unless: lazy.Regexp(notSent),
	},
	{
		name: "exfiltration",
		stem: []string{"curl", "wget", "nc ", "ncat", "netcat", "dig ", "nslookup", "host "},
		expr: lazy.Regexp(`\b(?:curl|wget)\s[^\n]*(?:-d|--data\S*|-f|--form|-t|--upload-file|--post-file|--post-data)[ =]?\s*\S*@?\S*` + secretPath +
			`|` + secretPath + `[^\n]{0,60}\|\s*(?:base64[^\n|]*\|\s*)?(?:curl|wget|nc|ncat|netcat)\b` +
			`|\b(?:printenv|env|set)\s*\|\s*(?:base64[^\n|]*\|\s*)?(?:curl|wget|nc|ncat|netcat)\b` +
			`|\b(?:nc|ncat|netcat)\s[^\n|;]*<\s*\S*` + secretPath +
			`|\b(?:curl|wget|nc|ncat|dig|nslookup|host)\s[^\n]*\$\((?:cat|env|printenv|base64|whoami|hostname)\b`),
		unless: lazy.Regexp(notSent),
	},
	{
		name: "exfiltration",
		stem: []string{"send", "post", "upload", "email", "mail", "forward", "exfiltrat", "transmit", "leak", "share", "include", "append", "encode", "copy", "submit", "report", "attach", "add", "put", "paste", "write", "](http"},
		expr: lazy.Regexp(`\b(?:send|post|upload|e-?mail|forward|exfiltrate|transmit|leak|submit|attach|copy|report)\b[^\n.]{0,80}(?:` + secretPath + `|` + secretWord + `|conversation|chat\s+history|transcript)[^\n]{0,80}\b(?:to|at|via|as)\s+[^\n]{0,40}?` + faraway +
			`|\b(?:include|append|put|encode|embed|add)\b[^\n.]{0,60}(?:` + secretWord + `|conversation|contents?\s+of\s+\S*` + secretPath + `)[^\n]{0,60}(?:in|to|into)\s+(?:the|an?|your|every)\s+(?:\w+\s+)?(?:url|query|link|image|request|commit\s+message|pull\s+request|issue)` +
			`|\b(?:search|scan|look|collect|gather|find|read|open)\b[^\n]{0,80}(?:` + secretPath + `|` + secretWord + `|\bwallet)[^\n]{0,80}\b(?:send|upload|post|e?mail|forward|copy)\b[^\n]{0,60}\bto\s+[^\n]{0,30}?` + faraway +
			`|\b(?:put|paste|write|add|include)\b[^\n]{0,60}\bbase64\s+of\s+\S*` + secretPath +
			`|!\[[^\]\n]*\]\(https?://[^)\n]*[?/=][^)\n]*[<{\[$%][^)\n]*(?:` + secretWord + `|message|conversation|transcript|history|prompt)`),
		unless: lazy.Regexp(`authorization|header|bearer|placeholder|never\s|do\s+not\s|don't\s|must\s+not|should\s+not|vault|keychain|secrets?\s+manager|1password|github\s+(?:actions\s+)?secrets`),
	},
	{
		name: "run_download",
		stem: []string{"curl", "wget", "iwr", "invoke-webrequest"},
		expr: lazy.Regexp(`\b(?:always|every\s+time|whenever|each\s+time|before\s+(?:anything|everything|doing|answering|you\s+(?:start|begin|do|answer)|any|each|every|starting)|first\b|must|immediately|silently|secretly|automatically|agents?\s+(?:should|must|shall)|assistants?\s+(?:should|must|shall)|you\s+(?:should|must|shall|need\s+to))[^\n]{0,120}(?:` +
			`\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n]*\|\s*(?:sudo\s+)?(?:\w*/)*(?:ba|z|da|k)?sh\b|\b(?:ba|z|da)?sh\s+<\(\s*curl|\b(?:iwr|invoke-webrequest)\b[^\n]*\|\s*iex\b|\beval\s+["(]*\$\(\s*(?:curl|wget))`),
	},
	{
		name: "config_tampering",
		stem: []string{"approv", "--yolo", "--mode", "hermes_yolo", "guardrail", "confirmation", "permission", "sandbox", "dangerously"},
		expr: lazy.Regexp(`\b(?:disable|turn\s+off|switch\s+off|bypass|circumvent|evade|skip)\s+(?:\w+\s+){0,3}(?:approvals?\b|guardrails?\b|(?:safety|security|permission)\s+(?:check|prompt|rule|filter)s?|sandbox(?:ing)?\b)[^\n]{0,60}(?:agent|assistant|hermes|model|first|before|then|so\s+that|user|yourself)` +
			`|\bapprovals\.mode\s*(?:[:=]|to|\s)\s*["']?(?:off|never|auto)|\bhermes_yolo_mode\s*=|\bhermes\s[^\n]*--(?:yolo|mode[ =]+(?:yolo|accept-edits))\b` +
			`|\b(?:approve|accept|confirm)\s+(?:all|every|any)\s+(?:tool\s+calls?|commands?|permission\s+requests?|prompts?)\s+(?:automatically|without|yourself)`),
	},
	{
		name: "ssh_backdoor",
		stem: []string{"authorized_keys", "crontab", ".bashrc", ".zshrc", ".profile", "agents.md", "claude.md", "soul.md"},
		expr: lazy.Regexp(`(?:>>?|\btee\b|\b(?:add|append|write|put|insert|install|echo|copy|place)\b)[^\n]{0,200}\.ssh/authorized_keys` +
			`|\b(?:always|silently|secretly|first|must|immediately)\b[^\n]{0,60}(?:add|append|write|install|put)[^\n]{0,120}(?:crontab|\.bashrc|\.zshrc|\.bash_profile|~/\.profile)` +
			`|\b(?:add|append|write|put|insert|echo)\b[^\n]{0,80}\b(?:curl|wget)\b[^\n]*\|\s*(?:ba|z|da|k)?sh\b[^\n]{0,80}(?:crontab|\.bashrc|\.zshrc|\.bash_profile|\.profile\b)`),
		unless: lazy.Regexp(`\byour\s+(?:own\s+)?(?:public\s+|ssh\s+)*key\b`),
	},
	{
		name: "html_comment_injection", // a Markdown comment: a link that no text uses
		stem: []string{"[//]:", "[comment]:"},
		expr: lazy.Regexp(`\[(?://|comment)\]:\s*(?:#|<>)[^\n]*\b(?:assistants?|agents?|ai|llm|model|claude|hermes|gpt|copilot)\b[^\n]*\b(?:not|must|should|shall|execute|run|send|always|never|please|fetch|read)\b`),
	},
	{
		name:  "html_comment_injection",
		shown: true,
		stem:  []string{"<!--"},
		expr: lazy.Regexp(`<!--(?:[^>]*[\s:\[(])?(?:ignore|override|system|secret|hidden)(?:[\s:,\])][^>]*)?-->` +
			`|<!--[^>]*\b(?:assistants?|agents?|ai|llm|model|claude|hermes|gpt|copilot)\b[^>]*\b(?:must|should|shall|execute|run|send|always|never|please)\b[^>]*-->`),
		unless: lazy.Regexp(`<!--\s*(?:prettier|markdownlint|eslint|cspell|vale|textlint|todo)[\w-]*`),
	},
	{
		name:  "hidden_div",
		shown: true,
		stem:  []string{"display", "visibility", "font-size", "opacity", "color"},
		expr:  lazy.Regexp(`<\s*(?:div|span|p|section)\s[^>]*style\s*=\s*["'][^"'>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*[01](?:px|pt|em|%)?\s*[;"']|opacity\s*:\s*0\s*[;"'])`),
	},
}
