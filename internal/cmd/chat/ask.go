package chat

import (
	"cmp"
	"context"
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

// The exit statuses of a run that ended without an error and without finishing:
// the user stopped it, or a limit or a spend cap ended it.
const (
	statusInterrupted = 130
	statusUnfinished  = 1
)

// bare answers one prompt and prints only the final text.
func (o *Options) bare(ctx context.Context, text string) error {
	if strings.TrimSpace(text) == "" && len(o.Images) == 0 {
		err := usage("nothing to answer: give a prompt after -z, or pipe text to standard input")
		return errors.Join(err, o.report(hermes.TurnDone{}, "", "", err))
	}
	done, id, model, err := o.answer(ctx, text, o.final())
	if reportErr := o.report(done, id, model, err); reportErr != nil {
		fmt.Fprintln(o.Err, "hermes: could not write the usage report:", ioerr.Text(reportErr))
	}
	return err
}

// ask answers one question and shows the work.
func (o *Options) ask(ctx context.Context, text string) error {
	d, err := o.display()
	if err != nil {
		return err
	}
	p := tui.NewPrinter(o.Out, o.Err, d, o.Width(), nil)
	if o.Quiet {
		p = o.final()
	}
	_, id, _, err := o.answer(ctx, text, p)
	if id != "" && !o.Quiet {
		fmt.Fprintf(o.Err, "\nSession %s. Resume it with: hermes --resume %s\n", id, id)
	}
	return err
}

// answer runs one turn until it ends, in a new session or in the resumed one.
// Ctrl+C interrupts the turn.
func (o *Options) answer(ctx context.Context, text string, p tui.Printer) (done hermes.TurnDone, id, model string, err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	a := o.App()
	if err := a.CheckSpend(); err != nil {
		return done, "", "", err
	}
	o.warn()
	cfg, err := a.Config()
	if err != nil {
		return done, "", "", err
	}
	o.Run.Rights.WhenUnattended = hermes.Unattendance(cmp.Or(cfg.Approvals().SingleQueryMode, string(hermes.UnattendedDeny)))
	parts, err := o.parts(text)
	if err != nil {
		return done, "", "", err
	}
	if o.Run.Session, err = o.resume(ctx); err != nil {
		return done, "", "", err
	}
	client := o.client()
	opened, err := client.Open(ctx, o.from(false), o.Run)
	if err != nil {
		return done, "", "", o.notOpen(err, o.Run.Session)
	}
	done, err = tui.Ask(ctx, client, opened.ID, o.from(false), parts, p)
	live, liveErr := client.Sessions(context.WithoutCancel(ctx), protocol.Filter{ID: opened.ID, Live: true})
	if liveErr == nil && len(live) > 0 {
		model = live[0].Model
	}
	if len(done.Text) > 0 || done.Turn > 0 {
		id = opened.ID
		o.cost = costOf(context.WithoutCancel(ctx), a, id, done.Turn)
		o.tier = a.Models().Tier(model)
	}
	return done, id, model, outcome(done, err, p)
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
