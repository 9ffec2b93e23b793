package environ

import (
	"slices"

	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
)

// packageHosts are the usual sources of packages.
var packageHosts = []string{
	"pypi.org", "test.pypi.org", "files.pythonhosted.org", "pypi.python.org", "pypi.anaconda.org", "conda.anaconda.org", "download.pytorch.org", "pypi.nvidia.com", "registry.npmjs.org", "registry.yarnpkg.com",
	"npm.pkg.github.com", "npm.jsr.io", "rubygems.org", "proxy.golang.org", "sum.golang.org", "index.crates.io", "github.com", "cache.nixos.org", "storage.googleapis.com",
}

// KnownSource reports whether an address is a usual source of packages.
func KnownSource(address string) bool {
	return !lex.Dynamic(address) && (slices.Contains(packageHosts, program.Host(address)) || program.ThisMachine(program.Host(address)))
}
