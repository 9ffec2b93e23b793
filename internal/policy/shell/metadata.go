package shell

import "strings"

// metadata recognizes the addresses at which clouds hand out credentials.
func (j *judge) metadata(name, arg string) {
	switch name {
	case "echo", "printf", "grep", "rg", "git", "gh", "ag":
		return
	}
	if !strings.ContainsAny(arg, ".:x8") {
		return
	}
	low := strings.ToLower(arg)
	for _, address := range []string{"169.254.169.254", "169.254.170.2", "169.254.170.23", "metadata.google.internal", "metadata.goog", "100.100.100.200", "fd00:ec2::254", "2852039166", "0xa9fea9fe", "a9fe:a9fe", "metadata.azure"} {
		if strings.Contains(low, address) {
			j.ask("cloud-metadata", "accesses the cloud metadata service, which hands out credentials")
			return
		}
	}
}
