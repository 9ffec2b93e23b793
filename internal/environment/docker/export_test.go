package docker

// HomeLabel is the value of the label of containers of a home.
func HomeLabel(home string) string { return digest(home) }

// Name is the name of the Runner's container.
func (r *Runner) Name() string { return r.plan.name }
