package remote_test

import (
	"fmt"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/protocol/protocoltest"
	"hermes/internal/protocol/remote"
)

// ways are how a frontend reaches a session.
var ways = []struct {
	name    string
	connect func(b *testing.B, w *protocoltest.World) protocol.Client
}{
	{"in process", func(_ *testing.B, w *protocoltest.World) protocol.Client { return w.Client }},
	{"socket", func(b *testing.B, w *protocoltest.World) protocol.Client {
		server, client := socket(b)
		return mustConnect(b, w.Client, server, client, remote.Hello{Key: "key"})
	}},
}

// run measures turns of one answer, in sessions of at most 50 turns.
func run(b *testing.B, step hermestest.Step) {
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			w := protocoltest.NewWorldOf(b, hermestest.NewScript(step).Forever())
			c := way.connect(b, w)
			var f *protocoltest.Frontend
			from := hermes.From{Client: "b", Attends: true}
			for n := 0; b.Loop(); n++ {
				if n%50 == 0 {
					b.StopTimer()
					if f != nil {
						f.Detach()
					}
					f = protocoltest.Open(b, c, from)
					b.StartTimer()
				}
				f.Say("hello")
				protocoltest.Next[hermes.TurnDone](f)
			}
		})
	}
}

// BenchmarkTurn is a turn with a short answer.
func BenchmarkTurn(b *testing.B) { run(b, hermestest.Say("Hello, I am here.")) }

// BenchmarkChunks is a turn whose answer comes in 20,000 chunks.
func BenchmarkChunks(b *testing.B) {
	step := hermestest.Step{}
	for i := range 20_000 {
		step.Deltas = append(step.Deltas, hermes.Delta{Text: fmt.Sprintf("word%d ", i)})
	}
	run(b, step)
}
