package policy

// Linked returns the rules with the links of the folders Home and State followed. real
// resolves all links of a path, as filepath.EvalSymlinks does; it may fail for a folder
// that does not exist.
func (r PathRules) Linked(real func(string) (string, error)) PathRules {
	r.RealHome, _ = real(r.Home) // a missing folder protects nothing
	r.RealState, _ = real(r.State)
	return r
}
