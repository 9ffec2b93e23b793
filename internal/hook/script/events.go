package script

import "slices"

// point is where in a session an event is.
type point int

const (
	nowhere point = iota // it waits for something
	sessionStart
	sessionEnd
	turnStart
	turnEnd
	beforeModel
	afterModel
	beforeTool
	beforeAsk
	afterTool
	beforeCompaction
	compacted
	childStart
	childEnd
	questionOpen
	questionClosed
)

// event is one row of the table of events.
type event struct {
	name   string
	at     point
	claude bool // its scripts read and write the form of Claude Code
	// about is what a matcher is compared with, such as "tool"; "" is nothing.
	about string
	// waits is what the event waits for, and when says when it is, for the user.
	waits, when string
}

// Event describes an event to the user.
type Event struct {
	Name string
	When string
	// Waits is what does not exist yet; "" if the event is there.
	Waits string
	// Matcher is what a matcher is compared with; "" if there is none.
	Matcher string
}

// Events lists all events, those of Hermes first.
func Events() []Event {
	var list []Event
	for _, e := range events {
		list = append(list, Event{Name: e.name, When: e.when, Waits: e.waits, Matcher: e.about})
	}
	return list
}

// eventOf finds an event by its name.
func eventOf(name string) (event, bool) {
	i := slices.IndexFunc(events[:], func(e event) bool { return e.name == name })
	if i < 0 {
		return event{}, false
	}
	return events[i], true
}

const (
	theGateway = "the gateway"
	theKanban  = "the kanban board"
	theSpeech  = "speech"
	thePlugins = "plugins"
	theStream  = "hooks of streams"
	theAux     = "hooks of side tasks"
	theOther   = "something like it in Hermes"
)

// events lists what can be configured below hooks.
var events = [...]event{
	{name: "on_session_start", at: sessionStart, when: "a session was opened"},
	{name: "on_session_end", at: sessionEnd, when: "a session was closed"},
	{name: "on_session_finalize", at: sessionEnd, when: "the same"},
	{name: "pre_llm_call", at: turnStart, when: "a message of the user, before it is stored; adds context to it"},
	{name: "post_llm_call", at: turnEnd, when: "a turn has its outcome"},
	{name: "pre_verify", at: turnEnd, when: "a turn is done; may have it go on once"},
	{name: "agent_loop_stopped", at: turnEnd, when: "a turn has its outcome"},
	{name: "pre_api_request", at: beforeModel, when: "before each request of a turn to the model"},
	{name: "post_api_request", at: afterModel, when: "the model has answered a request"},
	{name: "api_request_error", at: afterModel, when: "a request to the model has failed"},
	{name: "pre_tool_call", at: beforeTool, about: "tool", when: "before a call is judged; may refuse it, have the user asked, or change its arguments"},
	{name: "post_tool_call", at: afterTool, about: "tool", when: "a call has run or was refused"},
	{name: "transform_tool_result", at: afterTool, about: "tool", when: "the same; may change the result"},
	{name: "transform_terminal_output", at: afterTool, about: "tool", when: "the same, of the tool terminal"},
	{name: "pre_compaction", at: beforeCompaction, when: "messages are about to leave the transcript"},
	{name: "post_compaction", at: compacted, when: "the shortened transcript is stored, and after an undo"},
	{name: "subagent_start", at: childStart, when: "before a child session begins; may refuse it"},
	{name: "subagent_stop", at: childEnd, when: "a child session has ended"},

	{name: "pre_approval_request", at: questionOpen, about: "tool", when: "the user is asked for an approval, beside the question"},
	{name: "post_approval_response", at: questionClosed, about: "tool", when: "the user has decided, or did not in time"},

	{name: "PreToolUse", at: beforeTool, claude: true, about: "tool", when: "as pre_tool_call"},
	{name: "PermissionRequest", at: beforeAsk, claude: true, about: "tool", when: "before the user is asked for an approval; may refuse the call"},
	{name: "PostToolUse", at: afterTool, claude: true, about: "tool", when: "a call has run without a failure"},
	{name: "PostToolUseFailure", at: afterTool, claude: true, about: "tool", when: "a call has failed or was refused"},
	{name: "UserPromptSubmit", at: turnStart, claude: true, when: "a message of the user; may refuse it or add context"},
	{name: "Stop", at: turnEnd, claude: true, when: "a turn is done; may have it go on once"},
	{name: "SubagentStart", at: childStart, claude: true, when: "as subagent_start"},
	{name: "SubagentStop", at: childEnd, claude: true, when: "as subagent_stop"},
	{name: "PreCompact", at: beforeCompaction, claude: true, about: "trigger", when: "as pre_compaction"},
	{name: "PostCompact", at: compacted, claude: true, about: "trigger", when: "as post_compaction"},
	{name: "SessionStart", at: sessionStart, claude: true, about: "source", when: "as on_session_start; adds context to the next message"},
	{name: "SessionEnd", at: sessionEnd, claude: true, about: "reason", when: "as on_session_end"},
	{name: "Notification", at: questionOpen, claude: true, about: "notification", when: "the user is asked for an approval or a question, or is waited for"},

	{name: "on_session_reset", waits: "sessions that are reset in place"},
	{name: "transform_llm_output", waits: "hooks that change answers"},
	{name: "pre_auxiliary_call", waits: theAux},
	{name: "post_auxiliary_call", waits: theAux},
	{name: "on_stream_start", waits: theStream},
	{name: "on_stream_delta", waits: theStream},
	{name: "on_stream_end", waits: theStream},
	{name: "on_interim_message", waits: theStream},
	{name: "transform_api_error_classification", waits: thePlugins},
	{name: "on_skill_lifecycle", waits: thePlugins},
	{name: "pre_command", waits: thePlugins},
	{name: "pre_gateway_dispatch", waits: theGateway},
	{name: "gateway_platform_event", waits: theGateway},
	{name: "gateway:startup", waits: theGateway},
	{name: "session:start", waits: theGateway},
	{name: "session:end", waits: theGateway},
	{name: "session:reset", waits: theGateway},
	{name: "session:compress", waits: theGateway},
	{name: "agent:start", waits: theGateway},
	{name: "agent:step", waits: theGateway},
	{name: "agent:end", waits: theGateway},
	{name: "reaction:added", waits: theGateway},
	{name: "reaction:removed", waits: theGateway},
	{name: "on_room_member_activity", waits: theGateway},
	{name: "pre_transcription", waits: theSpeech},
	{name: "pre_tts_synthesis", waits: theSpeech},
	{name: "kanban_task_claimed", waits: theKanban},
	{name: "kanban_task_completed", waits: theKanban},
	{name: "kanban_task_blocked", waits: theKanban},
	{name: "TaskCompleted", claude: true, waits: theOther},
	{name: "TeammateIdle", claude: true, waits: theOther},
	{name: "InstructionsLoaded", claude: true, waits: theOther},
	{name: "ConfigChange", claude: true, waits: theOther},
	{name: "WorktreeCreate", claude: true, waits: theOther},
	{name: "WorktreeRemove", claude: true, waits: theOther},
	{name: "Setup", claude: true, waits: theOther},
}
