package demo

// Prompt is the task that the user gives in the first session.
const Prompt = "The tests of this project fail (sh tests/run.sh). Find out why, fix the code and run the tests until they pass. " +
	"Keep what will help next time."

// fixing is the act of the first session.
func fixing() []Step {
	return []Step{
		{
			Name:  "plan",
			Think: "The tests fail. I should see the failure before I read code, and change only what it needs.",
			Say:   "I'll make a short plan and then look at what fails.",
			Calls: []Move{plan(0)},
		},
		{
			Name:  "test1",
			Calls: []Move{runTests},
			Then:  afterTests(),
		},
		{
			Name: "look",
			Say:  "Test 3 fails: a status of 400 should count as an error and does not. I'll find where errors are counted and read that file.",
			Calls: []Move{
				plan(1),
				{"search_files", `{"pattern":"count_errors"}`},
				{"read_file", `{"path":"lib/stats.sh"}`},
			},
		},
		{
			Name:  "compare",
			Think: "The README says 400 or more. The code asks for greater than 400.",
			Say:   "`count_errors` compares with `-gt 400`, which leaves out 400 itself. It has to be `-ge`.",
			Calls: []Move{{"patch", `{"mode":"replace","path":"lib/stats.sh","old_string":"if [ \"$status\" -gt 400 ]; then","new_string":"if [ \"$status\" -ge 400 ]; then"}`}},
		},
		{
			Name:  "test2",
			Say:   "Now the tests again.",
			Calls: []Move{plan(2), runTests},
			Then:  afterTests(),
		},
		{
			Name:  "empty",
			Think: "The tests stop at the first failure, so this one was hidden. An empty log has no requests, and error_rate divides by their number.",
			Say:   "Test 3 passes, but it hid another failure: `error_rate` divides by the number of requests, and an empty log has none.",
			Calls: []Move{{"patch", `{"mode":"replace","path":"lib/stats.sh","old_string":"\tfailed=$(count_errors \"$1\")\n","new_string":"\tif [ \"$total\" -eq 0 ]; then\n\t\techo 0\n\t\treturn\n\tfi\n\tfailed=$(count_errors \"$1\")\n"}`}},
		},
		{
			Name:  "test3",
			Calls: []Move{runTests},
			Then:  afterTests(),
		},
		{
			Name:  "report",
			Say:   "All tests pass. Now I'll run the program itself:",
			Calls: []Move{plan(4), {"terminal", `{"command":"sh report.sh sample.log"}`}},
			Then:  []Outcome{{Seen: "38 percent", Then: "keep"}},
		},
		{
			Name: "keep",
			Say:  "For next time: I'll save how to run the tests to memory, and the steps that worked as a skill.",
			Calls: []Move{
				{"memory", `{"action":"add","target":"memory","content":` + quote(note) + `}`},
				{"skill_manage", `{"action":"create","name":"fix-failing-tests","category":"software-development","content":` + quote(skill) + `}`},
			},
			Then: []Outcome{
				{Seen: `"success":true`, Then: "end"},
				{Seen: `"action":"create"`, Then: "end"},
				{Seen: "already", Then: "end"}, // the scenario was played in this home before
			},
			Close: closing,
		},
	}
}

var runTests = Move{"terminal", `{"command":"sh tests/run.sh"}`}

// afterTests chooses the next step by the result of a test run. It is the same after every run, so that
// the next step always fits the state of the project.
func afterTests() []Outcome {
	return []Outcome{
		{Seen: "all 6 tests passed", Then: "report"},
		{Seen: "not ok 6", Then: "empty"},
		{Seen: "not ok 3", Then: "look"},
	}
}

// plan is the todo list with the first n items done and the next one in progress.
func plan(n int) Move {
	items := []string{"Run the tests and see what fails", "Find and read the code behind it", "Fix it", "Run the tests until they pass"}
	arguments := `{"todos":[`
	for i, item := range items {
		status := "pending"
		switch {
		case i < n:
			status = "completed"
		case i == n:
			status = "in_progress"
		}
		if i > 0 {
			arguments += ","
		}
		arguments += `{"id":"` + string(rune('1'+i)) + `","content":"` + item + `","status":"` + status + `"}`
	}
	return Move{"todo", arguments + `]}`}
}

// closing is the answer after all tests have passed and the report was run.
const closing = "The tests pass now. Two things were wrong, both in `lib/stats.sh`:\n\n" +
	"1. `count_errors` compared with `-gt 400`, so a status of exactly 400 was not counted. Now it uses `-ge`.\n" +
	"2. `error_rate` divided by the number of requests even if there were none. An empty log now has a rate of 0.\n\n" +
	"All 6 tests pass. For `sample.log` the report shows 3 errors in 8 requests, 38 percent.\n"

// note is what the first session keeps in memory.
const note = noteBegins + " `sh tests/run.sh` runs the tests; they stop at the first failure, so run them again after each fix."

// noteBegins marks the note of this project.
const noteBegins = "logreport:"

// skillFor is how the model finds the skill in its list.
const skillFor = "Fix failing shell tests, one failure at a time"

// skill is the SKILL.md that the first session writes.
const skill = `---
name: fix-failing-tests
description: ` + skillFor + `
---
# Fix failing tests

Use it when the tests of a shell project fail and the code needs a fix.

1. Run the tests and read the first failure only.
2. Find the code behind it, and the sentence in the README that says what is correct.
3. Fix this failure and nothing else.
4. Run the tests again: one failure may hide another.
5. At the end run the program itself on its hardest input.

Pitfall: a test that is changed until it passes proves nothing.

Verify: all tests pass, and the program does what its README promises.
`
