package guard

import (
	"regexp"
	"strings"

	"hermes/internal/lazy"
)

// rule is one pattern, over a line in lower case.
type rule struct {
	name     string
	severity Severity
	reason   string
	// stems are tried first: without one of them expr cannot match.
	stems []string
	expr  func() *regexp.Regexp
	// except is removed from the line first; nil removes nothing.
	except func() *regexp.Regexp
}

func (r *rule) in(low string) bool {
	for _, s := range r.stems {
		if !strings.Contains(low, s) {
			continue
		}
		if r.except != nil {
			low = r.except().ReplaceAllString(low, "")
		}
		return r.expr().MatchString(low)
	}
	return false
}

// secretName matches the name of a variable that holds a secret.
const secretName = `\w*(?:_key|apikey|token|secret|passwd|password|credential)s?\b`

// secretFile matches a file that holds secrets.
const secretFile = `(?:~|\$\{?home\}?|/root|/home/[\w.-]+)/(?:\.ssh/(?:id_[a-z0-9]+|identity)\b|\.aws/credentials|\.netrc|\.pgpass|\.kube/config|\.docker/config\.json|\.gnupg|\.config/gcloud|\.hermes/(?:\.env|auth\.json)|\.git-credentials|\.npmrc|\.pypirc)`

// rules is the list of patterns. Their names are stored with the user's decisions
// and never change.
var rules = []rule{
	// Secrets sent to other machines.
	{"exfil_secret_variable", Critical, "sends a secret from the environment to another machine", []string{"curl", "wget", "requests.", "fetch(", "http.post", "httpie"},
		lazy.Regexp(`\b(?:curl|wget|http)\b[^|;#]*(?:-d|--data\S*|-f|--form|--post-data|\?|post)[^|;#]*\$\{?` + secretName + `|(?:requests\.(?:post|put)|fetch|http\.post)\([^)]*(?:os\.environ|process\.env)`), nil},
	{"exfil_environment", Critical, "sends the whole environment to another machine", []string{"env"},
		lazy.Regexp(`\b(?:printenv|env|export\s+-p|set)\b\s*\|\s*(?:\w+\s*\|\s*)*(?:curl|wget|nc|ncat|telnet)\b|(?:json\.dumps|str|dict)\(\s*(?:dict\()?os\.environ\b.*(?:post|send|urlopen)`), nil},
	{"exfil_secret_file", Critical, "sends a file with secrets to another machine", []string{".ssh", ".aws", ".netrc", ".pgpass", ".kube", ".docker", ".gnupg", "gcloud", ".hermes", ".git-credentials", ".npmrc", ".pypirc"},
		lazy.Regexp(`(?:curl|wget|nc|ncat|scp|rsync)\b.*` + secretFile + `|` + secretFile + `.*\|\s*(?:\w+\s*\|\s*)*(?:curl|wget|nc|ncat)\b`), nil},
	{"read_secret_file", High, "reads a file with secrets", []string{".ssh", ".aws", ".netrc", ".pgpass", ".kube", ".docker", ".gnupg", "gcloud", ".hermes", ".git-credentials", ".npmrc", ".pypirc"},
		lazy.Regexp(`(?:\b(?:cat|less|more|head|tail|base64|xxd|strings|cp|tar|zip)\b[^|;]*|open\(\s*(?:os\.path\.expanduser\()?["'])` + secretFile), nil},
	{"dns_exfil", Critical, "sends data in a DNS lookup", []string{"dig", "nslookup", "host "},
		lazy.Regexp(`\b(?:dig|nslookup|host)\s+[^\n]*(?:\$\(|` + "`" + `)[^\n]*\.[a-z0-9-]+\.[a-z]{2,}`), nil},
	{"paste_service", High, "posts to a paste or request-catching service", []string{"webhook.site", "requestbin", "pastebin.com/api", "transfer.sh", "ngrok", "pipedream.net", "burpcollaborator", "oast.", "interact.sh", "0x0.st", "file.io"},
		lazy.Regexp(`(?:webhook\.site|requestbin|pastebin\.com/api|transfer\.sh|\w+\.ngrok(?:-free)?\.(?:io|app)|pipedream\.net|burpcollaborator|\boast\.\w+|interact\.sh|https?://0x0\.st|https?://file\.io)`), nil},
	{"markdown_exfil", Critical, "sends conversation data in an image link", []string{"!["},
		lazy.Regexp(`!\[[^\]]*\]\(https?://[^)]*(?:\{|\$|%7b)[^)]*\)`), nil},
	{"context_leak", High, "sends the conversation or the system prompt to a server", []string{"system prompt", "conversation"},
		lazy.Regexp(`\b(?:send|post|upload|forward|exfiltrate|transmit)\b[^.]*\b(?:system\s+prompt|(?:whole|entire|full|this)\s+conversation|conversation\s+history)\b[^.]*\bto\s+(?:https?:|an?\s+(?:url|server|endpoint|webhook))`), nil},

	// Destruction.
	{"delete_root", Critical, "deletes the whole disk or home folder", []string{"rm "},
		lazy.Regexp(`\brm\s+(?:-[a-z-]+\s+)*(?:-[a-z]*r[a-z]*|--recursive)\s+(?:-[a-z-]+\s+)*["']?(?:/|~/?|\$\{?home\}?/?|/\*|~/\*|\$\{?home\}?/\*|/(?:etc|usr|var|home|boot|bin|lib)/?\*?)["']?(?:[\s;&|)"'` + "`" + `.,]|$)`), nil},
	{"format_disk", Critical, "formats or overwrites a disk", []string{"mkfs", "dd ", "/dev/", "shred", "wipefs"},
		lazy.Regexp(`(?:^|[\s;&|` + "`" + `])mkfs(?:\.\w+)?\s+(?:-\S+\s+)*/dev/|\bdd\s+[^\n]*\bof=/dev/(?:sd|nvme|hd|vd|disk|mmcblk)|>\s*/dev/(?:sd|nvme|hd|vd|disk)\w+|\b(?:shred|wipefs)\b[^\n]*\s/dev/`), nil},
	{"fork_bomb", Critical, "contains a fork bomb", []string{":(){", ":()", ".fork"},
		lazy.Regexp(`:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}|while\s+(?:true|1)\s*[:;][^\n]*\bfork\s*\(`), nil},
	{"system_overwrite", High, "overwrites a system file", []string{"/etc/"},
		lazy.Regexp(`>\s*/etc/(?:passwd|shadow|sudoers|hosts|crontab|ld\.so\.preload)|\btee\s+(?:-a\s+)?/etc/(?:passwd|shadow|sudoers|ld\.so\.preload)`), nil},
	{"chmod_world", Medium, "makes files writable for everyone", []string{"chmod"},
		lazy.Regexp(`\bchmod\s+(?:-r\s+)?(?:777|666|a\+rwx|o\+w)\b`), nil},

	// Persistence.
	{"cron_persistence", High, "installs a scheduled job", []string{"cron"},
		lazy.Regexp(`\|\s*crontab\b|\bcrontab\s+(?:-u\s+\w+\s+)?-\s*(?:$|<)|>\s*/etc/cron|/var/spool/cron`), nil},
	{"shell_profile", High, "changes a shell startup file", []string{"rc", "profile", "zshenv"},
		lazy.Regexp(`(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?(?:~|\$\{?home\}?|/root)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|config/fish/config\.fish)`), nil},
	{"ssh_backdoor", Critical, "adds an SSH key that may log in", []string{"authorized_keys"},
		lazy.Regexp(`(?:>>?|\btee\b|\bcp\b|\bmv\b|\bappend\w*|\bwrite\w*|open\()[^\n]*authorized_keys|authorized_keys["']?\s*,\s*["'][aw]`), nil},
	{"service_persistence", Medium, "installs a service", []string{"systemctl", "launchctl", "/etc/systemd", "launchagents", "schtasks", "currentversion\\run"},
		lazy.Regexp(`\bsystemctl\s+(?:--user\s+)?enable\b|\blaunchctl\s+(?:load|bootstrap)\b|>\s*\S*(?:/etc/systemd/system|launchagents)/|\bschtasks\s+/create\b|currentversion\\\\?run\b`), nil},
	{"git_hook", Medium, "writes a git hook", []string{".git/hooks"},
		lazy.Regexp(`(?:>>?|\btee\b|\bcp\b|\bmv\b|\binstall\b)[^\n]*\.git/hooks/`), nil},
	{"agent_instructions", High, "changes the agent's own instructions or settings", []string{"agents.md", "claude.md", "soul.md", ".cursorrules", ".hermes/", "memory.md"},
		lazy.Regexp(`(?:>>?|\btee\s+(?:-a\s+)?|\bsed\s+-i[^\n]*)\s*\S*(?:agents\.md|claude\.md|soul\.md|\.cursorrules|memory\.md|\.hermes/(?:config\.yaml|\.env))`), nil},

	// Network.
	{"reverse_shell", Critical, "opens a shell to another machine", []string{"/dev/tcp", "nc ", "ncat", "socat", "socket", "pty.spawn", "mkfifo"},
		lazy.Regexp(`/dev/(?:tcp|udp)/[^\s/]+/\d+|\b(?:nc|ncat)\b[^\n|]*\s-\w*[ec]\w*\s+(?:/bin/)?(?:ba|z|da)?sh\b|\bsocat\b[^\n]*exec:|mkfifo\b[^\n]*\|[^\n]*\b(?:nc|ncat|sh)\b|socket\.socket\([^\n]*(?:dup2|subprocess|pty\.spawn)|os\.dup2\([^\n]*fileno`), nil},
	{"pipe_to_shell", High, "runs downloaded code without review", []string{"curl", "wget", "fetch", "iwr", "invoke-webrequest"},
		lazy.Regexp(`\b(?:curl|wget|fetch)\b[^\n|]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl|ruby|node)\b|\b(?:ba|z)?sh\s+(?:-c\s+["']?\$\(|<\()\s*(?:curl|wget)\b|\b(?:iwr|invoke-webrequest|irm)\b[^\n|]*\|\s*(?:iex|invoke-expression)\b`), nil},
	{"bind_all", Low, "listens on all network addresses", []string{"0.0.0.0"},
		lazy.Regexp(`(?:--host|-b|--bind|listen|host\s*=)\s*[=:"']?\s*0\.0\.0\.0`), nil},
	{"tunnel", Medium, "opens a tunnel into the machine", []string{"ssh ", "ngrok", "cloudflared", "bore "},
		lazy.Regexp(`\bssh\s+[^\n]*\s-[a-z]*r\s+\d+:|\b(?:ngrok\s+(?:http|tcp)|cloudflared\s+tunnel|bore\s+local)\b`), nil},
	{"raw_ip_download", High, "downloads from a bare IP address", []string{"http://", "https://"},
		lazy.Regexp(`\b(?:curl|wget)\b[^\n]*https?://(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?/`),
		lazy.Regexp(`https?://(?:127|10|192\.168)\.[\d.]+`)},

	// Hidden code.
	{"encoded_execution", Critical, "decodes and runs encoded code", []string{"base64", "b64decode", "fromhex", "atob", "xxd", "-enc", "frombase64"},
		lazy.Regexp(`\bbase64\s+(?:-d|--decode|-di)\b[^\n]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python3?|perl|node)\b|\b(?:eval|exec)\s*\(\s*[^\n]*(?:b64decode|fromhex|atob|decode\()|\bxxd\s+-r\b[^\n]*\|\s*(?:ba|z)?sh\b|powershell[^\n]*\s-e(?:nc\w*)?\s+[a-z0-9+/=]{20,}`), nil},
	{"eval_download", Critical, "evaluates downloaded text", []string{"eval", "exec("},
		lazy.Regexp(`\beval\s+["']?(?:\$\(|` + "`" + `)\s*(?:curl|wget)\b|\b(?:eval|exec)\(\s*(?:requests\.get|urllib\.request\.urlopen|urlopen)`), nil},
	{"long_encoded_blob", Medium, "contains a long block of encoded data", []string{"="},
		lazy.Regexp(`["'=\s][a-z0-9+/]{400,}={0,2}(?:["'\s]|$)`), nil},
	{"char_code_assembly", High, "builds code from character codes", []string{"chr(", "fromcharcode"},
		lazy.Regexp(`(?:chr\(\s*\d+\s*\)\s*[+.]\s*){4,}|fromcharcode\((?:\s*\d+\s*,){8,}`), nil},
	{"dynamic_import", Medium, "imports code under a hidden name", []string{"__import__"},
		lazy.Regexp(`__import__\(\s*(?:["'](?:os|subprocess|socket|ctypes)["']|[a-z_]+\s*[+\[(])`), nil},

	// Privileges.
	{"sudoers", Critical, "grants root rights without a password", []string{"nopasswd", "sudoers"},
		lazy.Regexp(`nopasswd\s*:|>>?\s*/etc/sudoers`), nil},
	{"setuid", High, "makes a program run with its owner's rights", []string{"chmod"},
		lazy.Regexp(`\bchmod\s+(?:-\w+\s+)*(?:u\+s|g\+s|[2467]\d{3})\b`), nil},
	{"disable_protection", High, "disables a protection of the machine", []string{"setenforce", "ufw", "spctl", "csrutil", "set-mppreference", "iptables"},
		lazy.Regexp(`\bsetenforce\s+0\b|\bufw\s+disable\b|\bspctl\s+--master-disable\b|\bcsrutil\s+disable\b|set-mppreference\s+-disable|\biptables\s+-f\b`), nil},
	{"approval_bypass", Critical, "disables the agent's approvals", []string{"yolo", "dangerously-skip", "approvals", "approval"},
		lazy.Regexp(`hermes\b[^\n]*--yolo|hermes_yolo_mode\s*=|dangerously-skip-permissions|\bconfig\s+set\s+approvals\.mode\s+["']?off|\b(?:without|skip|bypass|disable|turn\s+off)\s+(?:asking\s+for\s+|the\s+|any\s+|all\s+)*approvals?\b`), nil},
	{"secret_in_clear", High, "contains a key in plain text", []string{"akia", "ghp_", "sk-", "xox", "-----begin", "aiza", "glpat-"},
		lazy.Regexp(`\bakia[0-9a-z]{16}\b|\bghp_[a-z0-9]{36}\b|\bsk-(?:ant-|proj-)?[a-z0-9_-]{32,}|\bxox[bpars]-[0-9a-z-]{20,}|-----begin\s+(?:rsa |ec |openssh |dsa )?private\s+key-----|\baiza[0-9a-z_-]{35}\b|\bglpat-[0-9a-z_-]{20}\b`), nil},

	// Instructions to the model.
	{"ignore_instructions", Critical, "tells the model to ignore its instructions", []string{"ignore", "disregard", "forget", "override"},
		lazy.Regexp(`\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|all|your|system)\s+(?:\w+\s+){0,3}(?:instruction|rule|guideline|prompt|directive|polic(?:y|ie))s?\b`), nil},
	{"deceive_person", Critical, "tells the model to hide something from its user", []string{"tell", "inform", "mention", "reveal", "hide", "notif"},
		lazy.Regexp(`\b(?:do\s+not|don'?t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?)\s+(?:the\s+)?(?:user|human|person|owner|operator)\b|\b(?:hide|conceal)\s+(?:this|it|these|your\s+actions)\s+from\s+(?:the\s+)?(?:user|human|person|owner)\b`), nil},
	{"role_play_jailbreak", Critical, "tells the model that it has no rules", []string{"you are now", "jailbreak", "do anything now", "no restrictions", "developer mode"},
		lazy.Regexp(`\byou\s+are\s+now\s+(?:dan\b|an?\s+(?:unrestricted|unfiltered|uncensored))|\bdo\s+anything\s+now\b|\bjailbreak\s+mode\b|\b(?:have|with)\s+no\s+(?:ethical\s+|safety\s+)?restrictions\b|\bdeveloper\s+mode\s+(?:enabled|output)\b`), nil},
	{"fake_system_turn", Critical, "forges a turn of the conversation", []string{"<|", "[inst", "system:"},
		lazy.Regexp(`<\|(?:im_start|im_end|system|endoftext)\|>|\[/?inst\]|^\s*(?:###\s*)?system:\s*you\s+(?:are|must|will)\b`), nil},
	{"hidden_comment", High, "addresses the model in a hidden comment", []string{"<!--"},
		lazy.Regexp(`<!--[^>]*\b(?:assistant|model|agent|ai|you)\s+(?:must|should|shall|will)\b[^>]*-->`), nil},

	// Dependencies.
	{"unpinned_install", Low, "installs a package without a fixed version", []string{"pip install", "npm install", "npx "},
		lazy.Regexp(`\bpip3?\s+install\s+(?:-u\s+|--upgrade\s+)?git\+|\bnpm\s+install\s+(?:-g\s+)?https?:|\bnpx\s+(?:-y|--yes)\s+\S+@latest\b`), nil},
	{"foreign_index", High, "installs packages from another index", []string{"--index-url", "--extra-index-url", "--registry"},
		lazy.Regexp(`--(?:extra-)?index-url[=\s]+http://|--registry[=\s]+http://|--trusted-host\b`), nil},
	{"path_traversal", High, "uses a path that climbs out of the folder", []string{"../../.."},
		lazy.Regexp(`(?:\.\./){3,}(?:etc|root|home|proc|var|\.ssh|\.aws)\b`), nil},
	{"crypto_miner", Critical, "contains a coin miner", []string{"xmrig", "stratum+tcp", "minerd", "cryptonight"},
		lazy.Regexp(`\bxmrig\b|stratum\+(?:tcp|ssl)://|\bminerd\b|\bcryptonight\b`), nil},
}
