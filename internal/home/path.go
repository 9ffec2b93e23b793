package home

import (
	"os"
	"path/filepath"
	"strings"
)

// Root is the folder of the root home, whatever the profile.
func (d Dir) Root() string { return d.root }

// Path is the folder of this home: the root, or the profile's folder.
func (d Dir) Path() string {
	if d.profile == "" {
		return d.root
	}
	return filepath.Join(d.root, profilesFolder, d.profile)
}

// Profile is the profile's name; the root home is "default".
func (d Dir) Profile() string {
	if d.profile == "" {
		return Default
	}
	return d.profile
}

// String is the folder, for messages.
func (d Dir) String() string { return d.Path() }

// Join is a path inside this home.
func (d Dir) Join(elem ...string) string {
	return filepath.Join(append([]string{d.Path()}, elem...)...)
}

// Config is the settings file.
func (d Dir) Config() string { return d.Join("config.yaml") }

// Permissions is the file of what the user has allowed for good.
func (d Dir) Permissions() string { return d.Join("permissions.yaml") }

// Brake is the file that stops all work while it exists; see package brake.
func (d Dir) Brake() string { return d.Join("panic.json") }

// Trust is the file of which projects' settings the user trusts.
func (d Dir) Trust() string { return d.Join("trust.json") }

// HookConsents is the file of which hooks the user has agreed to.
func (d Dir) HookConsents() string { return d.Join("hook-consents.json") }

// Env is the file of secrets.
func (d Dir) Env() string { return d.Join(".env") }

// Auth is the file of logins and key pools.
func (d Dir) Auth() string { return d.Join("auth.json") }

// Soul is the file in which the user describes who the agent is.
func (d Dir) Soul() string { return d.Join("SOUL.md") }

// Database is the session database.
func (d Dir) Database() string { return d.Join("hermes.db") }

// Memories is the folder of MEMORY.md and USER.md.
func (d Dir) Memories() string { return d.Join("memories") }

// Skills is the folder of skills.
func (d Dir) Skills() string { return d.Join("skills") }

// Bundles is the folder of skill bundles.
func (d Dir) Bundles() string { return d.Join("skill-bundles") }

// Plugins is the folder of plugins.
func (d Dir) Plugins() string { return d.Join("plugins") }

// Hooks is the folder of gateway hooks.
func (d Dir) Hooks() string { return d.Join("hooks") }

// HookCopies is the folder of copies of the scripts of projects, from which they run. Neither tools nor
// commands in walls can write it.
func (d Dir) HookCopies() string { return d.Join("hook-copies") }

// HookTranscripts is the folder of the files in which hooks read the conversation.
func (d Dir) HookTranscripts() string { return d.Join("hook-transcripts") }

// Scripts is the folder of scripts that scheduled jobs may run.
func (d Dir) Scripts() string { return d.Join("scripts") }

// Cron is the folder of scheduled jobs and their output.
func (d Dir) Cron() string { return d.Join("cron") }

// Sessions is the folder of the gateway's session index.
func (d Dir) Sessions() string { return d.Join("sessions") }

// Logs is the folder of log files.
func (d Dir) Logs() string { return d.Join("logs") }

// Checkpoints is the folder of file snapshots.
func (d Dir) Checkpoints() string { return d.Join("checkpoints") }

// Backups is the folder of copies of one kind, such as "config".
func (d Dir) Backups(kind string) string { return d.Join("backups", kind) }

// Pending is the folder of pending changes of one kind: "skills", "memory" or "learnings".
func (d Dir) Pending(kind string) string { return d.Join("pending", kind) }

// Cache is the folder of one kind of files that can be recreated: images,
// audio, videos, documents, screenshots, citations, spillover, terminal, web, exec.
func (d Dir) Cache(kind string) string { return d.Join("cache", kind) }

// CacheInUse is like Cache, but returns the folder of an older layout as long as it
// has content. It reads the disk.
func (d Dir) CacheInUse(kind string) string {
	old := map[string]string{
		"images":      "image_cache",
		"audio":       "audio_cache",
		"videos":      "video_cache",
		"documents":   "document_cache",
		"screenshots": "browser_screenshots",
	}[kind]
	if old != "" && hasContent(d.Join(old)) {
		return d.Join(old)
	}
	return d.Cache(kind)
}

// TerminalSessions is the folder that records the last session of each terminal.
func (d Dir) TerminalSessions() string { return d.Join("terminal-sessions") }

// Pairing is the folder of pairing requests and approvals.
func (d Dir) Pairing() string { return d.Join("pairing") }

// Audit is the folder of the audit log.
func (d Dir) Audit() string { return d.Join("audit") }

// AuditKey is the file with the key of the audit log.
func (d Dir) AuditKey() string { return d.Join("audit.key") }

// History is the file of what the user typed at the prompt.
func (d Dir) History() string { return d.Join("history") }

// Expand replaces ~ at the beginning of a path by the user's home folder; an empty one
// replaces nothing.
func Expand(path, userHome string) string {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || userHome == "" || rest != "" && !os.IsPathSeparator(rest[0]) {
		return path
	}
	return filepath.Join(userHome, rest)
}
