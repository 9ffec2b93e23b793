package protocol_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/protocol"
)

// TestAServerRefusesWhatItMayMisunderstand and says in plain words what is wrong.
func TestAServerRefusesWhatItMayMisunderstand(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, protocol.MaxDepth+1) + strings.Repeat(`]`, protocol.MaxDepth+1)
	for raw, want := range map[string]string{
		``:                                       `the text is not one JSON value: byte 0: unexpected end of JSON input`,
		`null`:                                   `type: an operation is an object with a type, which is a text`,
		`[]`:                                     `type: an operation is an object with a type, which is a text`,
		`{}`:                                     `type: an operation is an object with a type, which is a text`,
		`{"type":7}`:                             `type: an operation is an object with a type, which is a text`,
		`{"type":null}`:                          `type: an operation is an object with a type, which is a text`,
		`{"type":"fly"}`:                         `type: there is no operation "fly"; there are say, steer, stop, reply, touch, continue, undo, retry, compress, start_review, set_model, set_effort, set_mode, renew_tools, set_title, leave`,
		`{"type":"SAY"}`:                         `type: there is no operation "SAY"; there are say, steer, stop, reply, touch, continue, undo, retry, compress, start_review, set_model, set_effort, set_mode, renew_tools, set_title, leave`,
		`{"type":"stop","all":true}`:             `all: there is no such field; there are processes, type`,
		`{"type":"leave","text":"a"}`:            `text: there is no such field; there are type`,
		`{"type":"steer","text":"a","text":"b"}`: `text: it is there twice`,
		`{"type":"steer","text":"a","te\u0078t":"b"}`: `text: it is there twice`,
		`{"type":"steer","type":"undo","text":"a"}`:   `type: it is there twice`,
		`{"type":"undo","type":"steer","text":"a"}`:   `type: it is there twice`,
		`{"type":"steer","Type":"undo","text":"a"}`:   `Type: there is no such field; it is written type`,
		`{"Type":"undo"}`:                                                 `Type: there is no such field; it is written type`,
		`{"type":"steer","Text":"a"}`:                                     `Text: there is no such field; it is written text`,
		`{"type":"say","parts":[{"text":"a"},{"colour":1}]}`:              `parts[1].colour: there is no such field; there are text, image, hidden, anchors, provenance`,
		`{"type":"say","parts":[{"image":{"URL":"a"}}]}`:                  `parts[0].image.URL: there is no such field; it is written url`,
		`{"type":"say","parts":[{"text":"a","text":"b"}]}`:                `parts[0].text: it is there twice`,
		`{"type":"say","parts":[],"synthetic":true}`:                      `synthetic: there is no such field; there are parts, busy, key, type`,
		`{"type":"say","parts":[{"text":"a","anchors":{"words":"b"}}]}`:   `parts: anchors are set by the session only`,
		`{"type":"say","parts":{"text":"a"}}`:                             `parts: it must be a list`,
		`{"type":"say","parts":["a"]}`:                                    `parts[0]: it must be an object`,
		`{"type":"say","parts":[{"image":{"data":[1,2]}}]}`:               `parts[0].image.data: it must be a text in base64`,
		`{"type":"say","parts":[{"hidden":"yes"}]}`:                       `parts[0].hidden: it must be true or false`,
		`{"type":"steer","text":5}`:                                       `text: it must be a text`,
		`{"type":"compress","keep":"5"}`:                                  `keep: it must be a number`,
		`{"type":"compress","keep":1.5}`:                                  `keep: number 1.5 is no value that it can have`,
		`{"type":"compress","keep":1e99}`:                                 `keep: number 1e99 is no value that it can have`,
		`{"type":"undo"} {"type":"undo"}`:                                 `the text is not one JSON value: byte 17: invalid character '{' after top-level value`,
		`{"type":"undo"}x`:                                                `the text is not one JSON value: byte 16: invalid character 'x' after top-level value`,
		`{"type":"undo"`:                                                  `the text is not one JSON value: byte 14: unexpected end of JSON input`,
		"{\"type\":\"steer\",\"text\":\"\xff\"}":                          `the text is not valid UTF-8`,
		`{"type":"steer","text":"\ud800"}`:                                `text: the text has half of a character`,
		`{"type":"steer","text":"\ud800\u0041"}`:                          `text: the text has half of a character`,
		`{"type":"steer","text":"a\\\udc00\ud800"}`:                       `text: the text has half of a character`,
		`{"type":"steer","text":` + deep + `}`:                            `text: it must be a text`,
		`{"type":"steer","` + strings.Repeat("ä", 100) + `":1}`:           strings.Repeat("ä", 40) + `…: there is no such field; there are text, type`,
		`{"type":"say","parts":[` + strings.Repeat(`{},`, 100_000) + `]}`: `the text is not one JSON value: byte 300024: invalid character ']' looking for beginning of value`,
	} {
		got, err := protocol.DecodeOp([]byte(raw))
		if err == nil {
			t.Errorf("%.80s is taken as %#v", raw, got)
		} else if err.Error() != want {
			t.Errorf("%.80s\n got %s\nwant %s", raw, err, want)
		}
	}
}

// TestAServerTakesWhatIsPlain although it is written in another way than the codec writes.
func TestAServerTakesWhatIsPlain(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]hermes.Op{
		` { "text" : "a" , "type" : "steer" } `:                          hermes.Steer{Text: "a"},
		`{"type":"st\u0065er","text":"\ud83d\ude00\\ud800 \"é\u00e9\""}`: hermes.Steer{Text: "😀\\ud800 \"éé\""},
		`{"type":"compress","topic":null,"keep":2}`:                      hermes.Compress{Keep: 2},
		`{"type":"reply","id":"1","answer":null,"approval":{"decision":"once"}}`: hermes.Reply{
			ID: "1", Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce},
		},
		"{\"type\":\"say\",\n\"parts\":[ {\"text\":\"a\"} ,\t{\"image\":{\"data\":\"AID/\"}}]}": hermes.Say{
			Parts: []hermes.Part{{Text: "a"}, {Image: &hermes.Image{Data: []byte{0, 128, 255}}}},
		},
	} {
		got, err := protocol.DecodeOp([]byte(raw))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (%v) -want +got:\n%s", raw, err, diff)
		}
	}
}

// TestParametersAreReadStrictly, also where a value is kept as it is written.
func TestParametersAreReadStrictly(t *testing.T) {
	t.Parallel()
	type params struct {
		Session string            `json:"session"`
		Op      json.RawMessage   `json:"op"`
		Run     *hermes.RunSpec   `json:"run"`
		Names   map[string]string `json:"names"`
		hidden  int
	}
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	for raw, want := range map[string]string{
		`{"session":"a","op":{"x":[` + deep(protocol.MaxDepth-3) + `]}}`: "",
		`{"op":` + deep(protocol.MaxDepth+1) + `}`:                       `op` + strings.Repeat("[0]", protocol.MaxDepth) + `: it is nested more than 32 levels deep`,
		`{"op":{"a":1,"a":2}}`:                                           `op.a: it is there twice`,
		`{"op":{"a":[{"b":{},"b":0}]}}`:                                  `op.a[0].b: it is there twice`,
		`{"op":[` + strings.Repeat(`0,`, protocol.MaxValues) + `0]}`:     `op[99998]: the message has more than 100000 values`,
		`{"run":{"origin":{"depth":1,"parents":["a"]}}}`:                 `run.origin.parents: there is no such field; there are platform, label, user, chat, root, root_id, parent, depth, task, provenance`,
		`{"run":{"budget":{"money_micros":"5"}}}`:                        `run.budget.money_micros: it must be a number`,
		`{"names":{"a":"b","c":1}}`:                                      `names.c: it must be a text`,
		`{"names":{"a":"b","a":"c"}}`:                                    `names.a: it is there twice`,
		`{"hidden":1}`:                                                   `hidden: there is no such field; there are session, op, run, names`,
		`[]`:                                                             `it must be an object`,
		`null`:                                                           `it must be an object`,
		`"a"`:                                                            `it must be an object`,
		`{"session":"a",}`:                                               `the text is not one JSON value: byte 16: invalid character '}' looking for beginning of object key string`,
		strings.Repeat(`{"op":`, 20_000):                                 `the text is not one JSON value: byte 60001: invalid character '{' exceeded max depth`,
		`{"session":"a","run":null,"names":null,"op":null}`:              "",
		`{"session":"a","run":{"model":{"temperature":0.5,"max_tokens":-1e2}},"names":null}`: `run.model.max_tokens: number -1e2 is no value that it can have`,
	} {
		var p params
		err := protocol.DecodeStrict([]byte(raw), &p)
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%.80s\n got %s\nwant %s", raw, got, want)
		}
		_ = p.hidden
	}
}

// TestASmallMessageTakesLittleMemory, whatever is in it.
func TestASmallMessageTakesLittleMemory(t *testing.T) {
	const most = 100 << 10
	for name, raw := range map[string]string{
		"lists":    `{"type":"say","parts":` + strings.Repeat(`[`, 1000),
		"nested":   `{"type":"say","parts":` + strings.Repeat(`[`, 490) + strings.Repeat(`]`, 490) + `}`,
		"parts":    `{"type":"say","parts":[{}` + strings.Repeat(`,{}`, 330) + `]}`,
		"fields":   `{"type":"say","parts":[{` + fields(100) + `}]}`,
		"numbers":  `{"type":"compress","keep":1` + strings.Repeat(`0`, 1000) + `}`,
		"exponent": `{"type":"compress","keep":1e` + strings.Repeat(`9`, 1000) + `}`,
		"escapes":  `{"type":"steer","text":"` + strings.Repeat(`\u0000`, 160) + `"}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 20 {
			_, _ = protocol.DecodeOp([]byte(raw)) // some are refused
		}
		runtime.ReadMemStats(&after)
		if got := (after.TotalAlloc - before.TotalAlloc) / 20; got > most {
			t.Errorf("%s: %d bytes take %d, want at most %d", name, len(raw), got, most)
		}
	}
}

// fields returns n members with different names.
func fields(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`"%d":0`, i)
	}
	return strings.Join(list, ",")
}

// TestAClientIgnoresWhatItDoesNotKnow, because a server may be of a later version.
func TestAClientIgnoresWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	const head = `"session":"s","epoch":2,"seq":9,`
	at := func(e hermes.Event) protocol.Envelope {
		return protocol.Envelope{Session: "s", Epoch: 2, Seq: 9, Event: e}
	}
	for raw, want := range map[string]protocol.Envelope{
		`{` + head + `"type":"sung","event":{"key":"A"}}`:                         at(nil),
		`{` + head + `"type":"sung","event":["A"],"later":{}}`:                    at(nil),
		`{` + head + `"event":{"text":"a"}}`:                                      at(nil),
		`{` + head + `"type":"text_delta","event":{"text":"a","key":"A"}}`:        at(hermes.TextDelta{Text: "a"}),
		`{` + head + `"type":"closed"}`:                                           at(hermes.Closed{}),
		`{` + head + `"type":"closed","event":null}`:                              at(hermes.Closed{}),
		`{` + head + `"type":"turn_done","event":{"outcome":"sung","turn":3}}`:    at(hermes.TurnDone{Outcome: "sung", Turn: 3}),
		`{` + head + `"type":"appended","event":{"message":{"parts":[{"a":1}]}}}`: at(hermes.Appended{Message: hermes.Message{Parts: []hermes.Part{{}}}}),
	} {
		var got protocol.Envelope
		err := json.Unmarshal([]byte(raw), &got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (%v) -want +got:\n%s", raw, err, diff)
		}
	}
	var e protocol.Envelope
	if err := json.Unmarshal([]byte(`{"type":"text_delta","event":{"text":5}}`), &e); err == nil || !strings.Contains(err.Error(), "text_delta") {
		t.Errorf("a number as a text gives the error %v, want one that names the event", err)
	}
}

// TestWhatHasNoFormInJSONIsNotSent rather than sent as something else.
func TestWhatHasNoFormInJSONIsNotSent(t *testing.T) {
	t.Parallel()
	for _, o := range []hermes.Op{nil, &hermes.Undo{}, hermes.Say{Synthetic: true}} {
		if raw, err := protocol.EncodeOp(o); err == nil {
			t.Errorf("%#v is sent as %s", o, raw)
		}
	}
	if raw, err := json.Marshal(protocol.Envelope{Event: &hermes.Closed{}}); err == nil {
		t.Errorf("a pointer to an event is sent as %s", raw)
	}
}
