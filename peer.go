package hermes

// Peer is a session as another one of its user sees it.
type Peer struct {
	Row   Session // complete
	State string  // idle, working, asking, open, or stored: no program runs it
}

// PlatformPeer is the platform of the frontend with which a session asks another one. It has no user.
const PlatformPeer = "session"

// PeerTool is the tool that waits for the answer of another session.
const PeerTool = "sessions_send"

// PeerMessage is what one session sends to another.
type PeerMessage struct {
	From   string // the session that sends it
	To     string
	Header string // says where the message comes from; unlike that of any other message
	Text   string
	Waits  bool // the sender waits for the answer
	// Provenance names the sources of untrusted text in it, as in [Message].
	Provenance string
}

// PeerAnswer is the outcome of the turn that answers a [PeerMessage].
type PeerAnswer struct {
	Outcome Outcome
	Text    string // the answer, or why there is none
	// Provenance names the sources of untrusted text that the session has read, as in [Message].
	Provenance string
}
