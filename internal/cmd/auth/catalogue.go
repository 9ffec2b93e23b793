package auth

import (
	"hermes/internal/cmd/factory"
	"hermes/internal/credential"
)

// catalogue is the Services of the app.
type catalogue struct{ *factory.Factory }

func (c catalogue) Pool(service string) (string, *credential.Pool, error) {
	return c.App().Pool(service)
}

func (c catalogue) PoolNames() ([]string, error) { return c.App().PoolNames() }

func (c catalogue) Login(pool string) (credential.Login, bool) { return c.App().Login(pool) }

// Accepts says that a service outside the catalogue accepts nothing, and that all
// accept keys while the catalogue cannot be read.
func (c catalogue) Accepts(pool string) (keys, loginOnly bool) {
	models, err := c.App().Models().Catalogue()
	if err != nil {
		return true, false
	}
	for _, r := range models.Rows() {
		if r.Name == pool {
			return len(r.KeyVars) > 0, r.Login
		}
	}
	return false, false
}

func (c catalogue) Program(pool string) string {
	models, err := c.App().Models().Catalogue()
	if err != nil {
		return ""
	}
	return models.Program(pool)
}

func (c catalogue) Missing(pool string) string {
	models, err := c.App().Models().Catalogue()
	if err != nil {
		return err.Error()
	}
	return models.Ready(pool)
}
