package guard

import (
	"regexp"
	"strings"
	"sync"
)

// rule is one pattern, over a line in lower case.
type rule struct {
	name     string
	severity Severity
	reason   string
	// stems: one of them must occur for the expression to be tried.
	stems []string
	expr  func() *regexp.Regexp
	// except is taken out of the line first; nil for nothing.
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

func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// secretName is the name of a variable that announces a secret.
const secretName = `\w*(?:_key|apikey|token|secret|passwd|password|credential)s?\b`

// secretFile is a file that holds secrets.
const secretFile = `(?:~|\$\{?home\}?|/root|/home/[\w.-]+)/(?:\.ssh/(?:id_[a-z0-9]+|identity)\b|\.aws/credentials|\.netrc|\.pgpass|\.kube/config|\.docker/config\.json|\.gnupg|\.config/gcloud|\.hermes/(?:\.env|auth\.json)|\.git-credentials|\.npmrc|\.pypirc)`

// rules is the list of patterns. Names are stored with people's decisions and
// never change.
var rules = []rule{
	// Secrets that leave the machine.
	{"exfil_secret_variable", Critical, "a secret from the environment is sent away", []string{"curl", "wget", "requests.", "fetch(", "http.post", "httpie"},
		lazy(`\b(?:curl|wget|http)\b[^|;#]*(?:-d|--data\S*|-f|--form|--post-data|\?|post)[^|;#]*\$\{?` + secretName + `|(?:requests\.(?:post|put)|fetch|http\.post)\([^)]*(?:os\.environ|process\.env)`), nil},
	{"exfil_environment", Critical, "the whole environment is sent away", []string{"env"},
		lazy(`\b(?:printenv|env|export\s+-p|set)\b\s*\|\s*(?:\w+\s*\|\s*)*(?:curl|wget|nc|ncat|telnet)\b|(?:json\.dumps|str|dict)\(\s*(?:dict\()?os\.environ\b.*(?:post|send|urlopen)`), nil},
	{"exfil_secret_file", Critical, "a file with secrets is sent away", []string{".ssh", ".aws", ".netrc", ".pgpass", ".kube", ".docker", ".gnupg", "gcloud", ".hermes", ".git-credentials", ".npmrc", ".pypirc"},
		lazy(`(?:curl|wget|nc|ncat|scp|rsync)\b.*` + secretFile + `|` + secretFile + `.*\|\s*(?:\w+\s*\|\s*)*(?:curl|wget|nc|ncat)\b`), nil},
	{"read_secret_file", High, "a file with secrets is read", []string{".ssh", ".aws", ".netrc", ".pgpass", ".kube", ".docker", ".gnupg", "gcloud", ".hermes", ".git-credentials", ".npmrc", ".pypirc"},
		lazy(`(?:\b(?:cat|less|more|head|tail|base64|xxd|strings|cp|tar|zip)\b[^|;]*|open\(\s*(?:os\.path\.expanduser\()?["'])` + secretFile), nil},
	{"dns_exfil", Critical, "data is sent away in a name lookup", []string{"dig", "nslookup", "host "},
		lazy(`\b(?:dig|nslookup|host)\s+[^\n]*(?:\$\(|` + "`" + `)[^\n]*\.[a-z0-9-]+\.[a-z]{2,}`), nil},
	{"paste_service", High, "something is posted to a paste or request-catching service", []string{"webhook.site", "requestbin", "pastebin.com/api", "transfer.sh", "ngrok", "pipedream.net", "burpcollaborator", "oast.", "interact.sh", "0x0.st", "file.io"},
		lazy(`(?:webhook\.site|requestbin|pastebin\.com/api|transfer\.sh|\w+\.ngrok(?:-free)?\.(?:io|app)|pipedream\.net|burpcollaborator|\boast\.\w+|interact\.sh|https?://0x0\.st|https?://file\.io)`), nil},
	{"markdown_exfil", Critical, "a picture link carries conversation data away", []string{"!["},
		lazy(`!\[[^\]]*\]\(https?://[^)]*(?:\{|\$|%7b)[^)]*\)`), nil},
	{"context_leak", High, "the conversation or the system prompt is to be given away", []string{"system prompt", "conversation"},
		lazy(`\b(?:send|post|upload|forward|exfiltrate|transmit)\b[^.]*\b(?:system\s+prompt|(?:whole|entire|full|this)\s+conversation|conversation\s+history)\b[^.]*\bto\s+(?:https?:|an?\s+(?:url|server|endpoint|webhook))`), nil},

	// Destruction.
	{"delete_root", Critical, "the whole disk or home folder is deleted", []string{"rm "},
		lazy(`\brm\s+(?:-[a-z-]+\s+)*(?:-[a-z]*r[a-z]*|--recursive)\s+(?:-[a-z-]+\s+)*["']?(?:/|~/?|\$\{?home\}?/?|/\*|~/\*|\$\{?home\}?/\*|/(?:etc|usr|var|home|boot|bin|lib)/?\*?)["']?(?:[\s;&|)"'` + "`" + `.,]|$)`), nil},
	{"format_disk", Critical, "a disk is formatted or overwritten", []string{"mkfs", "dd ", "/dev/", "shred", "wipefs"},
		lazy(`(?:^|[\s;&|` + "`" + `])mkfs(?:\.\w+)?\s+(?:-\S+\s+)*/dev/|\bdd\s+[^\n]*\bof=/dev/(?:sd|nvme|hd|vd|disk|mmcblk)|>\s*/dev/(?:sd|nvme|hd|vd|disk)\w+|\b(?:shred|wipefs)\b[^\n]*\s/dev/`), nil},
	{"fork_bomb", Critical, "a fork bomb", []string{":(){", ":()", ".fork"},
		lazy(`:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}|while\s+(?:true|1)\s*[:;][^\n]*\bfork\s*\(`), nil},
	{"system_overwrite", High, "a system file is overwritten", []string{"/etc/"},
		lazy(`>\s*/etc/(?:passwd|shadow|sudoers|hosts|crontab|ld\.so\.preload)|\btee\s+(?:-a\s+)?/etc/(?:passwd|shadow|sudoers|ld\.so\.preload)`), nil},
	{"chmod_world", Medium, "files are opened to everyone", []string{"chmod"},
		lazy(`\bchmod\s+(?:-r\s+)?(?:777|666|a\+rwx|o\+w)\b`), nil},

	// Staying.
	{"cron_persistence", High, "a scheduled job is set up", []string{"cron"},
		lazy(`\|\s*crontab\b|\bcrontab\s+(?:-u\s+\w+\s+)?-\s*(?:$|<)|>\s*/etc/cron|/var/spool/cron`), nil},
	{"shell_profile", High, "the shell's start file is changed", []string{"rc", "profile", "zshenv"},
		lazy(`(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?(?:~|\$\{?home\}?|/root)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|config/fish/config\.fish)`), nil},
	{"ssh_backdoor", Critical, "a key is added to those that may log in", []string{"authorized_keys"},
		lazy(`(?:>>?|\btee\b|\bcp\b|\bmv\b|\bappend\w*|\bwrite\w*|open\()[^\n]*authorized_keys|authorized_keys["']?\s*,\s*["'][aw]`), nil},
	{"service_persistence", Medium, "a service is installed", []string{"systemctl", "launchctl", "/etc/systemd", "launchagents", "schtasks", "currentversion\\run"},
		lazy(`\bsystemctl\s+(?:--user\s+)?enable\b|\blaunchctl\s+(?:load|bootstrap)\b|>\s*\S*(?:/etc/systemd/system|launchagents)/|\bschtasks\s+/create\b|currentversion\\\\?run\b`), nil},
	{"git_hook", Medium, "a git hook is written", []string{".git/hooks"},
		lazy(`(?:>>?|\btee\b|\bcp\b|\bmv\b|\binstall\b)[^\n]*\.git/hooks/`), nil},
	{"agent_instructions", High, "the agent's own instructions or settings are changed", []string{"agents.md", "claude.md", "soul.md", ".cursorrules", ".hermes/", "memory.md"},
		lazy(`(?:>>?|\btee\s+(?:-a\s+)?|\bsed\s+-i[^\n]*)\s*\S*(?:agents\.md|claude\.md|soul\.md|\.cursorrules|memory\.md|\.hermes/(?:config\.yaml|\.env))`), nil},

	// The net.
	{"reverse_shell", Critical, "a shell is opened to another machine", []string{"/dev/tcp", "nc ", "ncat", "socat", "socket", "pty.spawn", "mkfifo"},
		lazy(`/dev/(?:tcp|udp)/[^\s/]+/\d+|\b(?:nc|ncat)\b[^\n|]*\s-\w*[ec]\w*\s+(?:/bin/)?(?:ba|z|da)?sh\b|\bsocat\b[^\n]*exec:|mkfifo\b[^\n]*\|[^\n]*\b(?:nc|ncat|sh)\b|socket\.socket\([^\n]*(?:dup2|subprocess|pty\.spawn)|os\.dup2\([^\n]*fileno`), nil},
	{"pipe_to_shell", High, "code from the net is run unseen", []string{"curl", "wget", "fetch", "iwr", "invoke-webrequest"},
		lazy(`\b(?:curl|wget|fetch)\b[^\n|]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da|k)?sh|python3?|perl|ruby|node)\b|\b(?:ba|z)?sh\s+(?:-c\s+["']?\$\(|<\()\s*(?:curl|wget)\b|\b(?:iwr|invoke-webrequest|irm)\b[^\n|]*\|\s*(?:iex|invoke-expression)\b`), nil},
	{"bind_all", Low, "a server listens on every address", []string{"0.0.0.0"},
		lazy(`(?:--host|-b|--bind|listen|host\s*=)\s*[=:"']?\s*0\.0\.0\.0`), nil},
	{"tunnel", Medium, "a tunnel into the machine is opened", []string{"ssh ", "ngrok", "cloudflared", "bore "},
		lazy(`\bssh\s+[^\n]*\s-[a-z]*r\s+\d+:|\b(?:ngrok\s+(?:http|tcp)|cloudflared\s+tunnel|bore\s+local)\b`), nil},
	{"raw_ip_download", High, "something is downloaded from a bare address", []string{"http://", "https://"},
		lazy(`\b(?:curl|wget)\b[^\n]*https?://(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?/`),
		lazy(`https?://(?:127|10|192\.168)\.[\d.]+`)},

	// Hidden code.
	{"encoded_execution", Critical, "encoded code is decoded and run", []string{"base64", "b64decode", "fromhex", "atob", "xxd", "-enc", "frombase64"},
		lazy(`\bbase64\s+(?:-d|--decode|-di)\b[^\n]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python3?|perl|node)\b|\b(?:eval|exec)\s*\(\s*[^\n]*(?:b64decode|fromhex|atob|decode\()|\bxxd\s+-r\b[^\n]*\|\s*(?:ba|z)?sh\b|powershell[^\n]*\s-e(?:nc\w*)?\s+[a-z0-9+/=]{20,}`), nil},
	{"eval_download", Critical, "downloaded text is evaluated", []string{"eval", "exec("},
		lazy(`\beval\s+["']?(?:\$\(|` + "`" + `)\s*(?:curl|wget)\b|\b(?:eval|exec)\(\s*(?:requests\.get|urllib\.request\.urlopen|urlopen)`), nil},
	{"long_encoded_blob", Medium, "a long block of encoded data", []string{"="},
		lazy(`["'=\s][a-z0-9+/]{400,}={0,2}(?:["'\s]|$)`), nil},
	{"char_code_assembly", High, "code is put together from character codes", []string{"chr(", "fromcharcode"},
		lazy(`(?:chr\(\s*\d+\s*\)\s*[+.]\s*){4,}|fromcharcode\((?:\s*\d+\s*,){8,}`), nil},
	{"dynamic_import", Medium, "code is imported under a hidden name", []string{"__import__"},
		lazy(`__import__\(\s*(?:["'](?:os|subprocess|socket|ctypes)["']|[a-z_]+\s*[+\[(])`), nil},

	// More rights.
	{"sudoers", Critical, "rights without a password are given", []string{"nopasswd", "sudoers"},
		lazy(`nopasswd\s*:|>>?\s*/etc/sudoers`), nil},
	{"setuid", High, "a program is made to run with its owner's rights", []string{"chmod"},
		lazy(`\bchmod\s+(?:-\w+\s+)*(?:u\+s|g\+s|[2467]\d{3})\b`), nil},
	{"disable_protection", High, "a protection of the machine is switched off", []string{"setenforce", "ufw", "spctl", "csrutil", "set-mppreference", "iptables"},
		lazy(`\bsetenforce\s+0\b|\bufw\s+disable\b|\bspctl\s+--master-disable\b|\bcsrutil\s+disable\b|set-mppreference\s+-disable|\biptables\s+-f\b`), nil},
	{"approval_bypass", Critical, "the agent's approvals are to be switched off", []string{"yolo", "dangerously-skip", "approvals", "approval"},
		lazy(`hermes\b[^\n]*--yolo|hermes_yolo_mode\s*=|dangerously-skip-permissions|\bconfig\s+set\s+approvals\.mode\s+["']?off|\b(?:without|skip|bypass|disable|turn\s+off)\s+(?:asking\s+for\s+|the\s+|any\s+|all\s+)*approvals?\b`), nil},
	{"secret_in_clear", High, "a key stands in the text", []string{"akia", "ghp_", "sk-", "xox", "-----begin", "aiza", "glpat-"},
		lazy(`\bakia[0-9a-z]{16}\b|\bghp_[a-z0-9]{36}\b|\bsk-(?:ant-|proj-)?[a-z0-9_-]{32,}|\bxox[bpars]-[0-9a-z-]{20,}|-----begin\s+(?:rsa |ec |openssh |dsa )?private\s+key-----|\baiza[0-9a-z_-]{35}\b|\bglpat-[0-9a-z_-]{20}\b`), nil},

	// Orders to the model.
	{"ignore_instructions", Critical, "the model is told to forget its instructions", []string{"ignore", "disregard", "forget", "override"},
		lazy(`\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|all|your|system)\s+(?:\w+\s+){0,3}(?:instruction|rule|guideline|prompt|directive|polic(?:y|ie))s?\b`), nil},
	{"deceive_person", Critical, "the model is told to keep something from its person", []string{"tell", "inform", "mention", "reveal", "hide", "notif"},
		lazy(`\b(?:do\s+not|don'?t|never|without)\s+(?:ever\s+)?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?)\s+(?:the\s+)?(?:user|human|person|owner|operator)\b|\b(?:hide|conceal)\s+(?:this|it|these|your\s+actions)\s+from\s+(?:the\s+)?(?:user|human|person|owner)\b`), nil},
	{"role_play_jailbreak", Critical, "the model is told that it has no rules", []string{"you are now", "jailbreak", "do anything now", "no restrictions", "developer mode"},
		lazy(`\byou\s+are\s+now\s+(?:dan\b|an?\s+(?:unrestricted|unfiltered|uncensored))|\bdo\s+anything\s+now\b|\bjailbreak\s+mode\b|\b(?:have|with)\s+no\s+(?:ethical\s+|safety\s+)?restrictions\b|\bdeveloper\s+mode\s+(?:enabled|output)\b`), nil},
	{"fake_system_turn", Critical, "a turn of the conversation is forged", []string{"<|", "[inst", "system:"},
		lazy(`<\|(?:im_start|im_end|system|endoftext)\|>|\[/?inst\]|^\s*(?:###\s*)?system:\s*you\s+(?:are|must|will)\b`), nil},
	{"hidden_comment", High, "a comment that a person does not see speaks to the model", []string{"<!--"},
		lazy(`<!--[^>]*\b(?:assistant|model|agent|ai|you)\s+(?:must|should|shall|will)\b[^>]*-->`), nil},

	// What is fetched along.
	{"unpinned_install", Low, "a package is installed in no fixed version", []string{"pip install", "npm install", "npx "},
		lazy(`\bpip3?\s+install\s+(?:-u\s+|--upgrade\s+)?git\+|\bnpm\s+install\s+(?:-g\s+)?https?:|\bnpx\s+(?:-y|--yes)\s+\S+@latest\b`), nil},
	{"foreign_index", High, "packages come from another index", []string{"--index-url", "--extra-index-url", "--registry"},
		lazy(`--(?:extra-)?index-url[=\s]+http://|--registry[=\s]+http://|--trusted-host\b`), nil},
	{"path_traversal", High, "a path climbs out far", []string{"../../.."},
		lazy(`(?:\.\./){3,}(?:etc|root|home|proc|var|\.ssh|\.aws)\b`), nil},
	{"crypto_miner", Critical, "a coin miner", []string{"xmrig", "stratum+tcp", "minerd", "cryptonight"},
		lazy(`\bxmrig\b|stratum\+(?:tcp|ssl)://|\bminerd\b|\bcryptonight\b`), nil},
}
