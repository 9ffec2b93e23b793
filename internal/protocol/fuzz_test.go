package protocol_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes/internal/protocol"
)

// FuzzDecodeOp looks for operations that are lost or changed when they are sent on.
func FuzzDecodeOp(f *testing.F) {
	seed(f, "op")
	f.Add([]byte(`{"type":"steer","text":"\ud83d\ude00","Text":"a"}`))
	f.Add([]byte(`{"type":"say","parts":[{"image":{}},{}],"parts":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := protocol.DecodeOp(raw)
		if err != nil {
			return
		}
		sent, err := protocol.EncodeOp(got)
		if err != nil {
			t.Fatalf("%s cannot be sent on: %v", raw, err)
		}
		again, err := protocol.DecodeOp(sent)
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s becomes %s (%v):\n%s", raw, sent, err, diff)
		}
	})
}

// FuzzEnvelope looks for envelopes that are lost or changed when they are sent on.
func FuzzEnvelope(f *testing.F) {
	seed(f, "event")
	f.Add([]byte(`{"session":"s","type":"sung","event":[]}`))
	f.Add([]byte(`{"type":"queued","event":{"messages":[{},null]},"time":"0000-01-01T00:00:00.000000001-23:59"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got, again protocol.Envelope
		if json.Unmarshal(raw, &got) != nil {
			return
		}
		sent, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("%s cannot be sent on: %v", raw, err)
		}
		err = json.Unmarshal(sent, &again)
		if diff := cmp.Diff(got, again, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%s becomes %s (%v):\n%s", raw, sent, err, diff)
		}
	})
}

// seed adds the golden files of a folder.
func seed(f *testing.F, folder string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
}
