package hermes_test

import (
	"encoding/json"
	"testing"

	"hermes"
)

func TestSchemaOf(t *testing.T) {
	t.Parallel()
	type item struct {
		ID     string `json:"id"`
		Status string `json:"status" enum:"open,done"`
	}
	type args struct {
		Path   string            `json:"path" doc:"file to <read> & show"`
		Limit  int               `json:"limit,omitempty" default:"500" min:"1" max:"2000"`
		Ratio  *float64          `json:"ratio"`
		Mode   string            `json:"mode,omitempty" enum:"a,b" default:"a"`
		All    bool              `json:"all,omitempty" default:"false"`
		Items  []item            `json:"items,omitempty" doc:"the list" max:"5"`
		Kinds  []string          `json:"kinds,omitempty" enum:"x,y"`
		Env    map[string]string `json:"env,omitempty"`
		Any    json.RawMessage   `json:"any,omitempty" doc:"whatever"`
		Hidden int               `json:"-"`
		secret int
	}
	_ = args{secret: 0}
	want := `{"type":"object","properties":{` +
		`"path":{"type":"string","description":"file to <read> & show"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":2000,"default":500},` +
		`"ratio":{"type":"number"},` +
		`"mode":{"type":"string","enum":["a","b"],"default":"a"},` +
		`"all":{"type":"boolean","default":false},` +
		`"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"status":{"type":"string","enum":["open","done"]}},"required":["id","status"]},"maxItems":5,"description":"the list"},` +
		`"kinds":{"type":"array","items":{"type":"string","enum":["x","y"]}},` +
		`"env":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"any":{"description":"whatever"}` +
		`},"required":["path"]}`
	got := string(hermes.SchemaOf[args]())
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again := string(hermes.SchemaOf[args]()); again != got {
		t.Error("the same struct gave other bytes")
	}
	if !json.Valid([]byte(got)) {
		t.Error("not JSON")
	}
	if got := string(hermes.SchemaOf[struct{}]()); got != `{"type":"object","properties":{}}` {
		t.Errorf("no arguments: %s", got)
	}
}

func TestSchemaOfRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a channel has a schema")
		}
	}()
	hermes.SchemaOf[struct {
		C chan int `json:"c"`
	}]()
}
