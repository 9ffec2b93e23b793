package provider

// NameFor writes a model's name as the service of that row wants it.
func NameFor(row, name string) string {
	for _, r := range catalogue() {
		if r.Name == row {
			return nameFor(r, name)
		}
	}
	return ""
}
