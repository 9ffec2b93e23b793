package policy_test

import (
	"testing"

	"hermes/internal/policy/shell"
)

// TestFileToolsAndShellProtectTheSame: one list of protected paths. What a file
// tool does not write without a question, no command does.
func TestFileToolsAndShellProtectTheSame(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/home/ada/.bashrc", "/home/ada/.bash_aliases", "/home/ada/.config/fish/config.fish", "/home/ada/.config/fish/conf.d/a.fish",
		"/home/ada/.config/environment.d/a.conf", "/home/ada/.config/systemd/user/a.service", "/home/ada/.config/autostart/a.desktop",
		"/home/ada/.zlogout", "/home/ada/.kshrc", "/home/ada/.xinitrc", "/home/ada/.pam_environment", "/home/ada/.inputrc",
		"/home/ada/Library/LaunchAgents/a.plist", "/home/ada/.gitconfig", "/home/ada/.config/git/config", "/home/ada/.vimrc",
		"/home/ada/.ssh/authorized_keys", "/home/bob/.ssh/authorized_keys", "/root/.ssh/authorized_keys", "/home/bob/.aws/credentials",
		"/home/ada/.netrc", "/home/ada/.vault-token", "/home/ada/.claude.json", "/home/ada/.terraform.d/credentials.tfrc.json",
		"/home/ada/.password-store/a.gpg", "/home/ada/.oci/config", "/home/ada/.local/share/keyrings/a", "/srv/backup/id_ed25519",
		"/etc/passwd", "/etc/sudoers.d/a", "/etc/hosts", "/etc/cron.d/a", "/etc/systemd/system/a.service", "/etc/profile.d/a.sh", "/etc/ld.so.preload",
		"/var/spool/cron/crontabs/ada", "/usr/lib/systemd/system/a.service", "/run/systemd/system/a.service", "/Library/LaunchDaemons/a.plist",
		"/usr/bin/git", "/usr/sbin/sshd", "/bin/ls", "/lib/x86_64-linux-gnu/libc.so.6", "/boot/vmlinuz", "/proc/sys/kernel/core_pattern",
		"/home/ada/.hermes/config.yaml", "/home/ada/.hermes/permissions.yaml", "/home/ada/.hermes/.env", "/home/ada/.hermes/auth.json",
		"/home/ada/.hermes/hermes.db", "/home/ada/.hermes/hermes.db-wal", "/home/ada/.hermes/skills/a/SKILL.md", "/home/ada/.hermes/hooks/a.sh",
		"/home/ada/.hermes/plugins/a/plugin.yaml", "/home/ada/.hermes/cron/jobs.json", "/home/ada/.hermes/memories/USER.md", "/home/ada/.hermes/SOUL.md",
		"/home/ada/.hermes/scripts/a.sh", "/home/ada/.hermes/mcp-tokens/a", "/home/ada/.hermes/profiles/work/config.yaml", "/home/bob/.hermes/config.yaml",
		"/srv/app/.env", "/srv/app/.env.production", "/srv/app/.envrc", "/srv/app/.git/hooks/pre-commit", "/srv/app/.git/config",
		"/srv/app/.git/config.worktree", "/srv/app/.git/commondir", "/srv/app/.git/modules/a/hooks/b", "/srv/app/.git/worktrees/a/config.worktree", "/srv/app/.git",
		"/srv/app/.vscode/tasks.json", "/srv/app/.idea/workspace.xml", "/srv/app/.devcontainer/devcontainer.json", "/srv/app/.husky/pre-commit",
		"/srv/app/.gitmodules", "/srv/app/.npmrc", "/srv/app/.yarnrc.yml", "/srv/app/.cargo/config.toml", "/srv/app/.claude/settings.json",
		"/srv/app/.cursor/mcp.json", "/srv/app/.codex/config.toml", "/srv/app/.mcp.json",
	} {
		if v := rules.Write(path); v.Allowed() {
			t.Errorf("%s: file tools write it without a question", path)
		}
		for _, line := range writers(path) {
			if judged(line).Level() == shell.Allow {
				t.Errorf("%s: no question", line)
			}
		}
	}
}

// TestFreePathsAreFreeForBoth: nothing asks about these.
func TestFreePathsAreFreeForBoth(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/srv/app/main.go", "/srv/app/.env.example", "/srv/app/.gitignore", "/srv/app/.github/workflows/ci.yml", "/srv/app/config.json", "/tmp/a", "/var/tmp/a",
		"/home/ada/notes.txt", "/home/ada/.config/app/settings.json", "/home/ada/.hermes/cache/a", "/home/ada/.hermes/work/a", "/usr/local/share/a", "/dev/shm/a", "/opt/app/a",
	} {
		if v := rules.Write(path); !v.Allowed() {
			t.Errorf("%s: file tools: %+v", path, v)
		}
		for _, line := range writers(path) {
			if v := judged(line); v.Level() != shell.Allow {
				t.Errorf("%s: %+v", line, v.Findings)
			}
		}
	}
}

// writers are commands that write a path.
func writers(path string) []string {
	p := "'" + path + "'"
	return []string{"echo x > " + p, "echo x >> " + p, "cp a " + p, "tee " + p + " < a", "sed -i s/a/b/ " + p, "sudo install -m 644 a " + p, "mv a " + p, "ln -sf a " + p}
}

func judged(line string) shell.Verdict {
	return shell.Judge(line, shell.Context{Home: rules.Home, Hermes: rules.State, Dir: "/srv/app"})
}
