package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"
)

// upkeepTime bounds one round of what runs beside the scripts.
const upkeepTime = time.Minute

// keepUp starts what runs beside the scripts, once: the signs of life for the container,
// and the removal of old ones. Close ends both and waits for them.
func (r *Runner) keepUp() {
	r.upkeep.Do(func() {
		if r.config.Lifetime > 0 {
			r.beside.Go(r.beat)
		}
		if r.config.Reap {
			r.beside.Go(r.reap)
		}
	})
}

// beat tells the container that it is still wanted, as each script does, so that it does
// not end while a session pauses.
func (r *Runner) beat() {
	every := r.config.Lifetime / 3
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-r.life.Done():
			return
		case <-tick.C:
		}
		if time.Since(time.Unix(0, r.used.Load())) < every {
			continue
		}
		r.turn <- struct{}{}
		id := r.id
		<-r.turn
		if id == "" {
			continue
		}
		ctx, cancel := context.WithTimeout(r.life, upkeepTime)
		_, _ = r.call(ctx, "exec", id, "/bin/sh", "-c", "true >/run/hermes-used") // a failure shows at the next script
		cancel()
	}
}

// supersededAge is how long a kept container with other options than those of today stays:
// options may be set back.
const supersededAge = 7 * 24 * time.Hour

// usualLifetime counts where containers run for ever.
const usualLifetime = 5 * time.Minute

// leftover is what the engine says about a container that does not run.
type leftover struct {
	ID, Options, Kept string
	Created, Finished time.Time
}

const leftoverFormat = `{"ID":"{{.Id}}","Options":{{json (index .Config.Labels "` + labelOptions + `")}},"Kept":{{json (index .Config.Labels "` +
	labelKept + `")}},"Created":{{json .Created}},"Finished":{{json .State.FinishedAt}}}`

// reap removes containers of the same home that have ended, or were made and not started,
// and are not kept. They are left when a process is killed: without a Hermes, a container
// ends by itself. What fails is tried again by the next session.
func (r *Runner) reap() {
	ctx, cancel := context.WithTimeout(r.life, upkeepTime)
	defer cancel()
	out, err := r.call(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter", "label="+labelAgent+"=1", "--filter", "label="+labelHome+"="+r.plan.home,
		"--filter", "status=exited", "--filter", "status=created") // podman refuses "dead"
	ids := strings.Fields(out)
	if err != nil || len(ids) == 0 {
		return
	}
	for _, id := range ids {
		said, err := r.call(ctx, "inspect", "--type", "container", "--format", leftoverFormat, id)
		var c leftover
		if err != nil || json.Unmarshal([]byte(said), &c) != nil || !r.orphan(c, time.Now()) {
			continue
		}
		_, _ = r.call(ctx, "rm", "--volumes", c.ID) // without force: another process may have started it
	}
}

// orphan reports whether a container that does not run can go.
func (r *Runner) orphan(c leftover, now time.Time) bool {
	since := c.Finished
	if c.Created.After(since) { // it never ran
		since = c.Created
	}
	age := 2 * cmp.Or(r.config.Lifetime, usualLifetime)
	if c.Kept == "true" {
		if c.Options == r.plan.options {
			return false
		}
		age = max(age, supersededAge)
	}
	return now.Sub(since) > age
}
