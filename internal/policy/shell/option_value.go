package shell

import "strings"

// optionValues returns the values of a short and a long option.
func optionValues(args []string, short, long string) []string {
	var values []string
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case a == "--":
			return values
		case hasLong([]string{name}, long) && joined:
			values = append(values, value)
		case (a == short || hasLong([]string{a}, long)) && i+1 < len(args):
			values = append(values, args[i+1])
		case strings.HasPrefix(a, short) && !strings.HasPrefix(a, "--") && len(a) > len(short):
			values = append(values, a[len(short):])
		}
	}
	return values
}
