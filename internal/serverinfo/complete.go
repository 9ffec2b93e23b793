package serverinfo

import (
	"cmp"

	"hermes"
	"hermes/internal/modelinfo"
)

// Complete fills in what a server did not say about a model from the built-in snapshot.
// service is the name of its service, which may be empty: prices depend on it.
func Complete(service, model string, info hermes.ModelInfo) hermes.ModelInfo {
	m, known := modelinfo.Find(service, model)
	if !known {
		return info
	}
	info.ContextLength = cmp.Or(info.ContextLength, m.Context)
	info.OutputLimit = cmp.Or(info.OutputLimit, m.Output)
	info.Vision = info.Vision || m.Vision
	info.Reasoning = info.Reasoning || m.Reasoning
	info.Tools = info.Tools || m.Tools
	if m.Price == nil {
		return info
	}
	p := rates(*m.Price)
	for _, t := range m.Price.Above {
		p.Above = append(p.Above, hermes.PriceTier{Prompt: t.Prompt, Price: rates(t.Price)})
	}
	// Lists of services leave out what long prompts and long caches cost.
	if said := info.Price; said == nil || said.Input == p.Input && said.Output == p.Output && said.CacheWrite == p.CacheWrite {
		info.Price = &p
	}
	return info
}

func rates(p modelinfo.Price) hermes.Price {
	return hermes.Price{
		Input: hermes.Money(p.Input), Output: hermes.Money(p.Output), CacheRead: hermes.Money(p.CacheRead),
		CacheWrite: hermes.Money(p.CacheWrite), CacheWriteLong: hermes.Money(p.CacheWriteLong),
	}
}
