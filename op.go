package hermes

// Op is a request to a session. The set is closed. A session says when it has
// accepted an operation, not when it is done.
type Op interface{ op() }

type (
	// Say is a message of the user. If a turn runs, Busy decides what happens,
	// or the session's busy mode if Busy is empty. A message with untrusted
	// text never steers: it waits. What waits is stored before the message is
	// accepted. If no turn runs, the user's messages that wait since an earlier
	// process go before this one, in the same turn.
	Say struct {
		Parts     []Part `json:"parts"`
		Busy      Busy   `json:"busy,omitempty"`
		Synthetic bool   `json:"-"` // from the program, not the user; no connection may say so
		// Key, if set, names the message: while the session is live, it takes a message once
		// only, and answers a second one with the same key as it answered the first. So
		// whoever lost the connection before the answer sends the same message again. If the
		// epoch of the session has changed meanwhile, its process is another one, which knows
		// no keys of the one before: first look whether the message is in the history, in
		// the running turn or in the queue. A random text of 16 bytes or more is a good key;
		// at most 128 bytes are allowed.
		Key string `json:"key,omitempty"`
	}
	// Steer adds a note to the running turn; without a turn it is a Say.
	Steer struct {
		Text string `json:"text"`
	}
	// Stop interrupts the running turn and drops all that waits: the queue and
	// the notes. If Processes is set, it also ends the session's background processes.
	Stop struct {
		Processes bool `json:"processes,omitempty"`
	}
	// Reply answers the question of an Asked event: with Answer if that has a
	// Question, with Approval if it has one. The first reply wins; later ones get
	// [ErrAnswered], also from a process that took the session over.
	Reply struct {
		ID       string         `json:"id"`
		Answer   Answer         `json:"answer,omitzero"`
		Approval ApprovalAnswer `json:"approval,omitzero"`
	}
	// Touch says that the user has begun to answer a question, or goes on with it. The time
	// until it is escalated and the time that it waits both start again. For one that is
	// closed, the error is that of a late Reply.
	Touch struct {
		ID string `json:"id"`
	}
	// Continue resumes a turn that was cut off and asks its open question
	// again. A Say instead drops the question. If the transcript ends with an
	// answer, Continue answers what waits since an earlier process; if nothing
	// does, it is refused.
	Continue struct{}
	// Undo removes the last exchange from the transcript. It is refused while a
	// turn runs.
	Undo struct{}
	// Retry undoes the last exchange and sends its message again. It is refused
	// while a turn runs.
	Retry struct{}
	// Compress shortens the transcript now. It keeps what relates to the topic
	// and the last Keep exchanges. It is refused while a turn runs.
	Compress struct {
		Topic string `json:"topic,omitempty"`
		Keep  int    `json:"keep,omitempty"`
	}
	// StartReview starts a background review of the conversation; a Notice reports
	// its result. If the session has no review, it is refused.
	StartReview struct {
		Focus string `json:"focus,omitempty"` // what to look for first
	}
	// SetModel changes the model from the next turn on, or, if Once is set, for
	// the next turn only.
	SetModel struct {
		Ref  string `json:"ref"`
		Once bool   `json:"once,omitempty"`
	}
	// SetEffort changes the effort from the next turn on; empty means the
	// configured one.
	SetEffort struct {
		Effort Effort `json:"effort,omitempty"`
	}
	// SetMode changes how risky calls are treated from the next call on, also of the turn that
	// runs and of child sessions. Only a frontend whose user can be asked may send it. In
	// [ModePlan] it refuses the open approvals.
	SetMode struct {
		Mode RightsMode `json:"mode"`
	}
	// RenewTools makes the list of tools that the model is offered again, at the next turn, with
	// what servers have by then. The service then reads the whole conversation again, since its
	// cache no longer fits. It is refused while a turn runs.
	RenewTools struct{}
	// SetTitle renames the session.
	SetTitle struct {
		Title string `json:"title"`
	}
	// Leave says that a frontend goes away for good. If no other one is attached, the
	// running turn is interrupted and the session closes; otherwise nothing happens.
	Leave struct{}
)

func (Say) op()         {}
func (Steer) op()       {}
func (Stop) op()        {}
func (Reply) op()       {}
func (Touch) op()       {}
func (Continue) op()    {}
func (Undo) op()        {}
func (Retry) op()       {}
func (Compress) op()    {}
func (StartReview) op() {}
func (SetModel) op()    {}
func (SetEffort) op()   {}
func (SetMode) op()     {}
func (RenewTools) op()  {}
func (SetTitle) op()    {}
func (Leave) op()       {}

// Busy says what happens to a message that arrives while a turn runs.
type Busy string

// The busy modes.
const (
	BusyInterrupt Busy = "interrupt" // end the turn, then answer the message
	BusyQueue     Busy = "queue"     // answer it after the turn
	BusySteer     Busy = "steer"     // add it to the turn as a note
)

// From says which frontend sent something, and for whom. Whoever serves a frontend sets
// it from what it knows of the frontend, which cannot choose it for itself.
type From struct {
	// Client names the frontend among all that are attached to the sessions of a process.
	Client   string `json:"client,omitempty"`
	Platform string `json:"platform,omitempty"` // cli, oneshot, telegram, …
	User     string `json:"user,omitempty"`     // the platform's id of the user; "" is the owner of this home
	Name     string `json:"name,omitempty"`     // what other users are shown, such as "terminal 4711"
	// Attends says that its user is there to answer questions.
	Attends bool `json:"attends,omitempty"`
}

// String is what users are shown.
func (f From) String() string {
	for _, s := range []string{f.Name, f.User, f.Platform} {
		if s != "" {
			return s
		}
	}
	return "another frontend"
}
