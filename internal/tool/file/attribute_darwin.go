package file

// belongsToFile reports whether an attribute is not one that the system alone gives.
func belongsToFile(name string) bool { return name != "" && name != "com.apple.provenance" }
