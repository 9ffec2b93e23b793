package track

// Runner judges what a rule finds that a program runs. The judge of lines is one.
type Runner interface {
	Script(text string)                    // text that a shell will read
	Command(words []string, how Situation) // the words of one command
}
