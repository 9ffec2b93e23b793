// Package system names the operating system of this machine as users do, such as "Ubuntu
// 24.04". It only reads what the system says of itself. Start at Name, which differs
// between systems.
package system

import "strings"

// ReleaseName is the name and version of a distribution, read from an os-release file, ""
// if it has none. kernel is the kernel's own name, which says whether this is WSL.
func ReleaseName(release, kernel string) string {
	fields := map[string]string{}
	for line := range strings.Lines(release) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if ok {
			fields[name] = strings.Trim(value, `"'`)
		}
	}
	name := strings.TrimSpace(strings.TrimSuffix(fields["NAME"], " GNU/Linux") + " " + fields["VERSION_ID"])
	if name == "" {
		name = "Linux"
	}
	if strings.Contains(strings.ToLower(kernel), "microsoft") {
		name += " (WSL)"
	}
	return name
}
