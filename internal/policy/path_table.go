package policy

import (
	"strings"
	"sync"
)

// Anchor is the folder that the pattern of a protected path begins in.
type Anchor int

// The folders that patterns begin in.
const (
	AtRoot   Anchor = iota // the root of the file system
	AtHome                 // the home folder of a user
	AtState                // Hermes' own home, or one of its profiles
	Anywhere               // any folder
)

// Protected is one row of the table of protected paths.
type Protected struct {
	Kind   Kind
	Anchor Anchor
	// Pattern is a path in lower case. In a name * is any text and ? any
	// character; ** is any number of folders. A pattern that ends in a slash is the
	// folder with everything below it.
	Pattern string
}

// Table returns the table of protected paths, for documentation and tests. Of the
// rows with one anchor the first that matches a path decides; of different
// anchors, the strictest. The caller must not change it.
func Table() []Protected { return table() }

// table is the only list of protected paths. File tools, commands and uploads are
// judged by it.
var table = sync.OnceValue(func() []Protected {
	var all []Protected
	for _, g := range groups {
		for pattern := range strings.FieldsSeq(g.patterns) {
			all = append(all, Protected{g.kind, g.anchor, pattern})
		}
	}
	for name := range strings.FieldsSeq(systemPrograms) {
		all = append(all, Protected{shadow, AtRoot, "usr/local/bin/" + name}, Protected{shadow, AtRoot, "usr/local/sbin/" + name},
			Protected{shadow, AtHome, ".local/bin/" + name}, Protected{shadow, AtHome, "bin/" + name}, Protected{shadow, AtHome, ".cargo/bin/" + name}, Protected{shadow, AtHome, "go/bin/" + name})
	}
	return all
})

// systemPrograms are programs that systems come with and that users rely on.
const systemPrograms = `sudo su doas ssh scp sftp ssh-add gpg pass login passwd sh bash zsh dash fish env git ls cat cp mv rm ln mkdir chmod chown
	grep sed awk find xargs ps kill id whoami ping curl wget tar make cc gcc python python3 perl less more man which systemctl crontab`

var groups = [...]struct {
	kind     Kind
	anchor   Anchor
	patterns string
}{
	{free, AtRoot, "dev/shm/"},
	{kernel, AtRoot, "dev/fd/*/*/"}, // a file below an open folder
	{device, AtRoot, "dev/ proc/*/fd/* proc/*/task/*/fd/*"},
	{kernel, AtRoot, "proc/ sys/"},
	{password, AtRoot, "etc/shadow etc/shadow- etc/gshadow etc/gshadow- etc/master.passwd etc/security/opasswd etc/ssh/*_key etc/ssl/private/ etc/pki/tls/private/"},
	{account, AtRoot, `etc/passwd etc/passwd- etc/group etc/group- etc/sudoers etc/sudoers- etc/doas.conf etc/subuid etc/subuid- etc/subgid etc/subgid-
		etc/ld.so.preload etc/crontab etc/anacrontab
		etc/sudoers.d/ etc/pam.d/ etc/security/ etc/ssh/ etc/cron.d/ etc/cron.hourly/ etc/cron.daily/ etc/cron.weekly/ etc/cron.monthly/`},
	{systemFile, AtRoot, "var/spool/cron/ var/spool/anacron/ var/spool/at/ var/spool/atjobs/ var/at/ boot/ efi/ c:/windows/"},
	{systemUnit, AtRoot, `usr/lib/systemd/ lib/systemd/ usr/local/lib/systemd/ run/systemd/ usr/lib/udev/ lib/udev/ run/udev/
		usr/share/polkit-1/ usr/share/dbus-1/ library/launchdaemons/ library/launchagents/ library/startupitems/ system/`},
	{systemLog, AtRoot, "var/log/ var/run/utmp var/audit/"},
	{serviceData, AtRoot, "var/lib/docker/ var/lib/containers/ var/lib/containerd/ var/lib/mysql/ var/lib/postgresql/ var/mail/ var/spool/mail/"},
	{installed, AtRoot, "opt/ var/lib/"},
	{private, AtRoot, "home users"},
	{systemEtc, AtRoot, "etc/"},
	{program, AtRoot, "bin/ sbin/ lib/ lib32/ lib64/ libx32/ usr/bin/ usr/sbin/ usr/lib/ usr/lib32/ usr/lib64/ usr/libx32/ usr/libexec/ c:/program?files*/"},
	{spelled, AtRoot, "private/var/ private/tmp/ private/home/"},

	{sshConfig, AtHome, ".ssh/config"},
	{sshPublic, AtHome, ".ssh/*.pub .ssh/known_hosts* .ssh/authorized_keys"},
	{sshKey, AtHome, ".ssh/"},
	{withCredential, AtHome, ".aws/config"},
	{credential, AtHome, `.netrc _netrc .pgpass .my.cnf .mylogin.cnf .npmrc .pypirc .git-credentials .config/git/credentials .htpasswd
		.cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config .m2/settings.xml .m2/settings-security.xml
		.gradle/gradle.properties .nuget/nuget/nuget.config .composer/auth.json .config/composer/auth.json .pip/pip.conf .config/pip/pip.conf
		.vault-token .terraformrc .terraform.d/credentials.tfrc.json .boto .s3cfg .databrickscfg .snowsql/config .config/rclone/rclone.conf
		.aws/ .azure/ .oci/ .config/gcloud/ .config/doctl/ .config/hcloud/ .config/linode-cli .fly/config.yml .config/stripe/config.toml
		.kube/config .kube/*.conf .kube/cache/oidc-login/ .docker/config.json .config/containers/auth.json
		.config/gh/hosts.yml .config/hub .config/glab-cli/ .config/netlify/config.json .config/ngrok/ngrok.yml .ngrok2/ngrok.yml
		.rye/credentials .local/share/uv/credentials/ .local/share/pypoetry/auth.toml .config/pypoetry/auth.toml .dotnet/corefx/cryptography/x509stores/
		.npm-global/etc/npmrc .npm-packages/etc/npmrc .nvm/versions/node/*/etc/npmrc .rattler/credentials.json
		.claude/.credentials.json .claude.json .codex/auth.json .gemini/oauth_creds.json .qwen/oauth_creds.json
		.gnupg/private-keys-v1.d/ .gnupg/secring.gpg .password-store/ .config/sops/age/ .config/op/
		.local/share/keyrings/ .local/share/kwalletd/ library/keychains/`},
	{withCredential, AtHome, ".kube/ .docker/ .gnupg/ .config/gh/"},
	{start, AtHome, `.profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bashrc.d/ .zshrc .zshenv .zprofile .zlogin .zlogout
		.config/zsh/ .kshrc .mkshrc .shrc .cshrc .tcshrc .login .logout .inputrc .config/fish/ .config/nushell/ .config/elvish/ .config/powershell/
		documents/powershell/ documents/windowspowershell/ .oh-my-zsh/
		.pam_environment .config/environment.d/ .xprofile .xinitrc .xserverrc .xsession .xsessionrc .config/autostart/ .config/autostart-scripts/
		.config/plasma-workspace/ .config/systemd/ .local/share/systemd/ .local/share/dbus-1/ library/launchagents/
		appdata/roaming/microsoft/windows/start?menu/programs/startup/ .gitconfig .config/git/`},
	{toolConfig, AtHome, `.vimrc .gvimrc .vim/ .config/nvim/ .exrc .emacs .emacs.el .emacs.d/ .config/emacs/ .config/code/user/ .hgrc .tmux.conf .config/tmux/
		.screenrc .gdbinit .lldbinit .psqlrc .sqliterc .irbrc .pryrc .pythonstartup .curlrc .wgetrc .mailcap .lessfilter .direnvrc .config/direnv/
		.config/mise/ .ipython/ .jupyter/ .rprofile .renviron
		.gradle/init.gradle .gradle/init.d/ .yarnrc .yarnrc.yml .config/sway/ .config/hypr/ .config/i3/ .i3/ .local/share/applications/`},
	{userProgram, AtHome, ".pyenv/ .nvm/ .rustup/ .asdf/ .rbenv/ .volta/ .sdkman/ .deno/bin/ .bun/bin/ .dotnet/tools/ .local/lib/"},
	{history, AtHome, `.bash_history .zsh_history .local/share/fish/fish_history .python_history .node_repl_history .mysql_history .psql_history .sqlite_history`},
	{private, AtHome, `.mozilla/ .thunderbird/ .config/google-chrome/ .config/chromium/ .config/bravesoftware/ .config/microsoft-edge/ .config/vivaldi/
		library/cookies/ library/messages/ library/mail/ library/application?support/google/ library/application?support/firefox/
		.bitcoin/ .ethereum/ .electrum/ .config/solana/ .config/signal/ .config/slack/ .config/discord/ .local/share/telegramdesktop/
		.config/1password/ .config/bitwarden?cli/ .config/keepassxc/ snap/ .var/`},

	{ownSandbox, AtState, "cache/sandbox/"},
	{free, AtState, "cache/ tmp/ workspace/ sandboxes/ work/"},
	{ownRun, AtState, "run/"}, // before what a pattern may mean as well
	{ownSecret, AtState, ".env auth.json audit.key .anthropic_oauth.json mcp-tokens/ pairing/"},
	{ownSoul, AtState, "soul.md"},
	{ownMemory, AtState, "memories/"},
	{ownScript, AtState, "scripts/"},
	{ownSkills, AtState, "skills/ skill-bundles/"},
	{ownCron, AtState, "cron/"},
	{ownState, AtState, `panic.json config.yaml permissions.yaml trust.json hook-consents.json hermes.db* state.db* hooks/ plugins/ mcp* pending/ checkpoints/ backups/ profiles/ sessions/ logs/ audit/
		active_profile shell-hooks-allowlist.json history terminal-sessions/ modal.json singularity/ worktrees/ *.db *.db-* *.lock *.jsonl **`},

	{free, Anywhere, `.env.example .env.sample .env.template .env.dist .env.defaults
		.env.*.example .env.*.sample .env.*.template .env.*.dist .env.*.defaults`},
	{envFile, Anywhere, ".env .env.* .envrc"},
	{privateKey, Anywhere, "id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk"},
	{gitHooks, Anywhere, ".git/**/hooks/"},
	{gitFolder, Anywhere, ".git"},
	{gitConfig, Anywhere, ".git/**/config .git/**/config.worktree .git/**/commondir"},
	{toolConfig, Anywhere, `.vscode/ .idea/ .devcontainer/ .husky/ .gitmodules .npmrc .yarnrc .yarnrc.* .cargo/config .cargo/config.*
		.claude/ .cursor/ .codex/ .gemini/ .windsurf/ .mcp.json .hermes/permissions.yaml .hermes/config.yaml
		.devcontainer.json .zed/ *.code-workspace .nvim.lua .nvimrc .exrc .vimrc .gdbinit .dir-locals.el .rprofile .bazelrc .mvn/ .direnv/*.rc .hg/hgrc .lfsconfig
		.pnpmfile.cjs .yarn/releases/ .yarn/plugins/ lefthook.yml lefthook.yaml .lefthook.yml .pre-commit-config.yaml .lintstagedrc .lintstagedrc.*
		mise.toml .mise.toml rust-toolchain rust-toolchain.toml .opencode/ opencode.json opencode.jsonc .kiro/ .roo/ .continue/ .aider.conf.yml`},
	{start, Anywhere, "sitecustomize.py usercustomize.py site-packages/*.pth dist-packages/*.pth"},
	{private, Anywhere, `*.pem *.key *.p12 *.pfx *.jks *.keystore *.ppk *.kdbx *.ovpn *.tfstate
		credentials.json client_secret*.json service-account*.json service_account*.json secrets.json secrets.toml secrets.yaml secrets.yml`},
	{configFile, Anywhere, "config.yaml"},
}
