package demo

// Again is what the user asks in the second session.
const Again = "What was wrong with this project last time, and does the fix still hold?"

// recalling is the act of the second session. It takes everything from facts of the request. If one is
// missing, the model says so and gives up.
func recalling() []Step {
	return []Step{
		{
			Name:  "remember",
			Think: "My notes name this project, the list of skills has one that fits, and the details are in an earlier session.",
			Say:   "My memory has a note:\n\n> {note}\n\nThere is also a skill for this. I'll load it and search the earlier session.",
			Calls: []Move{
				{"skill_view", `{"name":"{skill}"}`},
				{"session_search", `{"query":"wrong"}`},
			},
			Then: []Outcome{{Seen: "match_message_id", Then: "lookup"}},
		},
		{
			Name: "lookup",
			Say:  "The skill says: \"{advice}\" I'll read that message, and run the tests and an empty log.",
			Calls: []Move{
				{"session_search", `{"session_id":"{session}","around_message_id":{message},"window":1}`},
				{"terminal", `{"command":"{command}"}`},
				{"terminal", `{"command":"sh report.sh tests/empty.log"}`},
			},
			Then:  []Outcome{{Seen: "tests passed", Then: "end"}},
			Close: "In session {session} I wrote:\n\n{found}\n\nBoth fixes hold: `{command}` says \"{verdict}\", and an empty log has an {rate}.\n",
		},
	}
}
