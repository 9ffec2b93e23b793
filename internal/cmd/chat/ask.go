package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/cmd/factory"
	"hermes/internal/ioerr"
	"hermes/internal/protocol"
	"hermes/internal/tui"
)

// The exit statuses of a run, beside 0. A run is unfinished if a limit or a spend cap ended it.
const (
	statusFailed      = 1
	statusUnfinished  = 1
	statusNoModel     = 2
	statusHalted      = 3
	statusInterrupted = 130
)

// bare answers one prompt and prints only the final text.
func (o *Options) bare(ctx context.Context, text string) error {
	if strings.TrimSpace(text) == "" && len(o.Images) == 0 {
		err := usage("nothing to answer: give a prompt after -z, or pipe text to standard input")
		return errors.Join(err, o.report(answer{}, err))
	}
	return o.answer(ctx, text, o.final())
}

// ask answers one question and shows the work.
func (o *Options) ask(ctx context.Context, text string) error {
	if o.Quiet || o.Output.formed() {
		return o.answer(ctx, text, o.final())
	}
	d, err := o.display()
	if err != nil {
		return err
	}
	return o.answer(ctx, text, tui.NewPrinter(o.Out, o.Err, d, o.Width(), nil))
}

// answer is what came of a question.
type answer struct {
	done    hermes.TurnDone // of the last turn; steps, usage and time are those of all
	session string          // empty if it was not stored
	model   string
	cost    *float64        // in US dollars; nil is unknown
	tier    string          // the service tier that was asked for
	value   json.RawMessage // the answer as JSON, with a schema
	refused []refusal
}

// answer answers a question in a new session or in the resumed one, and reports what came of it.
func (o *Options) answer(ctx context.Context, text string, p tui.Printer) error {
	began := o.Now()
	r := &recorder{Printer: p}
	if o.Output.Stream {
		r.lines = &lines{w: o.Out}
	}
	a, err := o.converse(ctx, text, r)
	a.refused = r.refused
	if reportErr := o.report(a, err); reportErr != nil {
		fmt.Fprintln(o.Err, "hermes: could not write the usage report:", ioerr.Text(reportErr))
	}
	if !o.asked.prompt && !o.Quiet && !o.Output.formed() && a.session != "" {
		fmt.Fprintf(o.Err, "\nSession %s. Resume it with: hermes --resume %s\n", a.session, a.session)
	}
	return o.printResult(a, o.Now().Sub(began), err)
}

// converse runs turns until there is an answer: one, and with a schema a second one if the first
// answer does not fit. Ctrl+C interrupts the turn.
func (o *Options) converse(ctx context.Context, text string, r *recorder) (a answer, err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if err := o.App().CheckHalt(); err != nil {
		return a, err
	}
	if err := o.App().CheckSpend(); err != nil {
		return a, err
	}
	o.warn()
	if err := o.acceptHooks(ctx); err != nil {
		return answer{}, err
	}
	if err := o.unattended(); err != nil {
		return a, err
	}
	parts, err := o.parts(text)
	if err != nil {
		return a, err
	}
	if o.Run.Session, err = o.resume(ctx); err != nil {
		return a, err
	}
	client := o.client()
	opened, err := client.Open(ctx, o.from(false), o.Run)
	if err != nil {
		return a, o.notOpen(err, o.Run.Session)
	}
	r.begin(opened.ID)
	err = o.turn(ctx, client, opened.ID, parts, r, &a)
	if err != nil || o.schema == nil {
		return a, err
	}
	return a, o.fit(ctx, client, opened.ID, r, &a)
}

// unattended says what happens to calls that need approval: no user can be asked. With rules of
// its own, the run needs no setting that would allow more.
func (o *Options) unattended() error {
	cfg, err := o.App().Config()
	if err != nil {
		return err
	}
	o.Run.Rights.WhenUnattended = hermes.Unattendance(cmp.Or(cfg.Approvals().SingleQueryMode, string(hermes.UnattendedDeny)))
	if len(o.Run.Rights.Allow) > 0 {
		o.Run.Rights.Mode, o.Run.Rights.WhenUnattended = cmp.Or(o.Run.Rights.Mode, hermes.ModeAsk), hermes.UnattendedDeny
	}
	return nil
}

// turn runs one turn until it ends, and adds it to the answer.
func (o *Options) turn(ctx context.Context, client protocol.Client, id string, parts []hermes.Part, r *recorder, a *answer) error {
	done, err := tui.Ask(ctx, client, id, o.from(false), parts, r)
	whole := context.WithoutCancel(ctx)
	live, liveErr := client.Sessions(whole, protocol.Filter{ID: id, Live: true})
	if liveErr == nil && len(live) > 0 {
		a.model = live[0].Model
	}
	if len(done.Text) > 0 || done.Turn > 0 {
		cost := costOf(whole, o.App(), id, done.Turn)
		if a.session != "" {
			cost = sum(a.cost, cost)
		}
		a.session, a.cost, a.tier = id, cost, o.App().Models().Tier(a.model)
	}
	before := a.done
	a.done = done
	a.done.Steps += before.Steps
	a.done.Usage = a.done.Usage.Add(before.Usage)
	return outcome(done, err, r)
}

// sum adds costs; nil is unknown.
func sum(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

// client is how the run reaches the sessions.
func (o *Options) client() protocol.Client {
	if o.Quiet {
		return o.App().Client(nil)
	}
	return o.App().Client(func(text string) { fmt.Fprintln(o.Err, text) })
}

// outcome turns the outcome of a turn into the error of the command.
func outcome(done hermes.TurnDone, err error, p tui.Printer) error {
	switch {
	case err != nil:
		return err
	case p.Err() != nil: // it stopped the turn
		return p.Err()
	case done.Failure != nil:
		return done.Err()
	case done.Outcome == hermes.OutcomeInterrupted:
		return &app.ExitError{Status: statusInterrupted}
	case done.Outcome == hermes.OutcomeBudget || done.Outcome == hermes.OutcomeToolsStopped:
		return &app.ExitError{Status: statusUnfinished}
	}
	return nil
}

// parts are the parts of the message: the text and the images.
func (o *Options) parts(text string) ([]hermes.Part, error) {
	var parts []hermes.Part
	if text != "" {
		parts = append(parts, hermes.Part{Text: text})
	}
	for _, path := range o.Images {
		img, err := readImage(path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, hermes.Part{Image: img})
	}
	if o.schema != nil {
		parts = append(parts, hermes.Part{Text: asksFor(o.schema), Hidden: true})
	}
	return parts, nil
}

// maxImage is the maximum size of an image, in bytes.
const maxImage = 20 << 20

func readImage(path string) (*hermes.Image, error) {
	if strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") {
		return &hermes.Image{URL: path}, nil
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, usage("--image: %w; name a readable image", err)
	}
	if st.Size() > maxImage {
		return nil, usage("--image: %s is %d MB; the limit is %d MB", path, st.Size()>>20, maxImage>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("--image: %w; name a readable image", err)
	}
	kind := http.DetectContentType(data)
	if !strings.HasPrefix(kind, "image/") {
		return nil, usage("--image: %s is not a supported image (PNG, JPEG, GIF, WebP)", path)
	}
	return &hermes.Image{MediaType: kind, Data: data}, nil
}

// display says how to show things, according to the configuration, the flags and
// the terminal.
func (o *Options) display() (tui.Display, error) {
	cfg, err := o.App().Config()
	if err != nil {
		return tui.Display{}, err
	}
	c := cfg.Display()
	d := tui.Display{
		Reasoning: c.ShowReasoning, Calls: tui.CallsShown(c.ToolProgress), PreviewLength: c.ToolPreviewLength,
		Summary: c.TurnSummary, BellDone: c.BellOnComplete, BellAsk: c.BellOnPrompt,
		NoColor: cfg.Getenv("NO_COLOR") != "", Plain: !factory.IsTerminal(o.Out),
	}
	if o.Verbose {
		d.Calls = tui.CallsVerbose
	}
	return d, nil
}

// Appearance returns how other commands show the work of the agent, and how wide
// the terminal is.
func (o *Options) Appearance() (tui.Display, int) {
	d, err := o.display()
	if err != nil { // reported where the configuration is needed
		d = tui.Display{Plain: !factory.IsTerminal(o.Out)}
	}
	return d, o.Width()
}

// warn prints the problems of the configuration, at every start.
func (o *Options) warn() {
	cfg, err := o.App().Config()
	if err != nil {
		return // reported where it is needed
	}
	for _, p := range cfg.Warnings() {
		fmt.Fprintln(o.Err, "hermes:", p)
	}
}
