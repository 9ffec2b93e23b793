package turn

import (
	"bytes"
	"encoding/json"
	"fmt"

	"hermes"
)

// storedSpec is the form of a tool in the session's row.
type storedSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// EncodeSpecs returns tools as the session's row has them.
func EncodeSpecs(specs []hermes.Spec) (json.RawMessage, error) {
	list := make([]storedSpec, len(specs))
	for i, sp := range specs {
		list[i] = storedSpec{sp.Name, sp.Description, sp.Schema}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(list); err != nil {
		return nil, fmt.Errorf("store the list of tools: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// DecodeSpecs returns the stored tools, which every request of the session
// sends, even if this process has others.
func DecodeSpecs(tools json.RawMessage) ([]hermes.Spec, error) {
	if len(tools) == 0 {
		return nil, nil
	}
	var list []storedSpec
	if err := json.Unmarshal(tools, &list); err != nil {
		return nil, fmt.Errorf("read the stored list of tools: %w", err)
	}
	specs := make([]hermes.Spec, len(list))
	for i, st := range list {
		specs[i] = hermes.Spec{Name: st.Name, Description: st.Description, Schema: st.Schema}
	}
	return specs, nil
}
