package config

import "time"

// Approvals is the section approvals: which commands need approval first.
//
// The three modes say what happens to such a command where no user can be asked: deny
// refuses it, approve lets it run and says so. Approve never covers what only the user
// may allow (keeping what untrusted text asked for), what changes Hermes itself, what
// Deny forbids, what is never allowed, or anything in a child session. A child session asks
// the user of the sessions above it.
type Approvals struct {
	Mode                    string        `key:"mode" default:"smart" oneof:"smart manual off" test:"internal/cmd.TestApprovalsMode"`
	DenialBreakerThreshold  int           `key:"denial_breaker_threshold" default:"3" min:"0" test:"internal/cmd.TestDenialBreaker"` // refusals in a row after which the model is told to stop; 0: off
	Deny                    []string      `key:"deny" test:"internal/cmd.TestApprovalsDeny"`
	SmartPolicy             string        `key:"smart_policy" test:"internal/app.TestSmartPolicyReachesTheJudge"`
	Timeout                 time.Duration `key:"timeout" default:"300" min:"1" test:"internal/app.TestApprovalsTimeout"`
	EscalateAfter           time.Duration `key:"escalate_after" default:"120" test:"internal/app.TestApprovalsEscalateAfter"`                   // until a question that no user has begun to answer is offered to all frontends, which starts timeout again; 0: never
	CronMode                string        `key:"cron_mode" default:"deny" oneof:"deny approve" planned:"cron"`                                  // scheduled jobs
	SingleQueryMode         string        `key:"single_query_mode" default:"deny" oneof:"deny approve" test:"internal/cmd.TestSingleQueryMode"` // a question on the command line: -z, -Q, a pipe
	UnattendedMode          string        `key:"unattended_mode" default:"deny" oneof:"deny approve" test:"internal/app.TestUnattendedMode"`    // every other run without a user
	DestructiveSlashConfirm bool          `key:"destructive_slash_confirm" default:"true" test:"internal/cmd.TestDestructiveSlashConfirm"`
}

// Security is the section security.
type Security struct {
	RedactSecrets    bool             `key:"redact_secrets" default:"true" test:"internal/cmd.TestRedactSecretsDecidesWhatTheModelSees"`
	TirithEnabled    bool             `key:"tirith_enabled" default:"true" planned:"tirith" promises:"true"`
	TirithPath       string           `key:"tirith_path" default:"tirith" planned:"tirith" promises:"any"`
	TirithTimeout    time.Duration    `key:"tirith_timeout" default:"5" planned:"tirith"`
	TirithFailOpen   bool             `key:"tirith_fail_open" default:"true" planned:"tirith" promises:"false"`
	AllowPrivateURLs bool             `key:"allow_private_urls" test:"internal/app.TestPrivatePagesNeedTheSwitch"`
	WebsiteBlocklist WebsiteBlocklist `key:"website_blocklist"`
	// Egress says which hosts commands in a sandbox may reach.
	Egress Egress `key:"egress"`
	// TrustedFolders are folders whose files and commands the user trusts: what a
	// session reads there may be remembered without a question.
	TrustedFolders []string `key:"trusted_folders" test:"internal/app.TestMemoryDoesNotAskInATrustedFolder"`
	// KnownHosts are hosts that the user knows: after untrusted text, links and messages to other hosts
	// that look as if they carried data are spelled out, or asked about. Hosts may begin with "*.".
	KnownHosts []string `key:"known_hosts" default:"github.com, gitlab.com, www.google.com, duckduckgo.com, *.wikipedia.org, stackoverflow.com, pkg.go.dev, go.dev, docs.python.org, pypi.org, developer.mozilla.org, www.npmjs.com, crates.io, docs.rs, www.youtube.com, arxiv.org, doi.org" test:"internal/app.TestLinksToUnknownHostsAreSpelledOut"`
}

// Egress is what commands in a sandbox may reach. Hosts may begin with "*.", and Deny wins.
type Egress struct {
	Allow      []string       `key:"allow" test:"internal/app.TestEgressSettings"`
	Deny       []string       `key:"deny" test:"internal/app.TestEgressSettings"`
	Registries bool           `key:"registries" default:"true" test:"internal/app.TestEgressSettings"` // of the usual package managers
	Secrets    []EgressSecret `key:"secrets" test:"internal/app.TestDeclaredSecrets"`
}

// EgressSecret is a secret that commands in a sandbox use without seeing it. Its value is
// that of the variable of its name in .env or the environment, never in this file. Where
// it may go is declared narrowly: a swap protects the value, not what can be done with it.
type EgressSecret struct {
	Name    string   `key:"name"`    // of the variable
	Hosts   []string `key:"hosts"`   // names, or *.example.org; the port is 443 if none is named
	Methods []string `key:"methods"` // GET, POST, …; * is all
	Paths   []string `key:"paths"`   // a path and all below
	Headers []string `key:"headers"` // Authorization and the usual ones if empty
	Query   []string `key:"query"`   // parameters of the URL
}

// WebsiteBlocklist names hosts that no tool visits. A rule is a host, *.name for all names
// below it, or *.tld; a port may follow a colon. Shared files have one rule a line; relative
// paths are in Hermes' home. They are read again after 30 seconds.
type WebsiteBlocklist struct {
	Enabled     bool     `key:"enabled" test:"internal/app.TestWebsiteBlocklistRefusesPages"`
	Domains     []string `key:"domains" test:"internal/app.TestWebsiteBlocklistRefusesPages"`
	SharedFiles []string `key:"shared_files" test:"internal/app.TestWebsiteBlocklistRefusesPages"`
}

// Privacy is the section privacy.
type Privacy struct {
	RedactPII bool `key:"redact_pii" promises:"true"`
}

// Audit is the section audit: how much of the audit log is kept.
type Audit struct {
	MaxSizeMB int `key:"max_size_mb" default:"256" min:"1" test:"internal/app.TestAuditSettings"` // older files are removed
	KeepDays  int `key:"keep_days" min:"0" test:"internal/app.TestAuditSettings"`                 // 0: for ever
}

// Evidence is the section evidence: whether answers that claim to have done something are compared with what was done.
type Evidence struct {
	Check string `key:"check" default:"auto" oneof:"auto off" test:"internal/app.TestAnswersAreComparedWithWhatWasDone"`
}

// Network is the section network.
type Network struct {
	ForceIPv4 bool `key:"force_ipv4"` // for pages that tools fetch, and for commands in a sandbox
}

// Approvals returns the section approvals.
func (c *Config) Approvals() Approvals { return section[Approvals](c, "approvals") }

// Security returns the section security.
func (c *Config) Security() Security { return section[Security](c, "security") }

// Privacy returns the section privacy.
func (c *Config) Privacy() Privacy { return section[Privacy](c, "privacy") }

// Audit returns the section audit.
func (c *Config) Audit() Audit { return section[Audit](c, "audit") }

// Evidence returns the section evidence.
func (c *Config) Evidence() Evidence { return section[Evidence](c, "evidence") }

// Network returns the section network.
func (c *Config) Network() Network { return section[Network](c, "network") }
