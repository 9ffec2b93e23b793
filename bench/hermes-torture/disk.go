package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"hermes/hermestest/faultserver"
)

// diskSize is the size of the small disk: enough for the first turn.
const diskSize = 8 << 20

// diskCase is how much is free when the turn begins; less than zero: all of it, until the
// turn's second command fills the disk.
type diskCase struct {
	name string
	free int64
}

var diskCases = []diskCase{
	{"full", 0}, {"4 KB free", 4 << 10}, {"32 KB free", 32 << 10}, {"128 KB free", 128 << 10},
	{"512 KB free", 512 << 10}, {"filled within the turn", -1},
}

// saysDisk matches a complaint that names the cause.
var saysDisk = regexp.MustCompile(`(?i)disk|space|full`)

// disk lets turns meet a full disk and checks that nothing stored is lost. It needs Linux
// and user namespaces, where any user may mount a small disk.
func disk(ctx context.Context, o options) (table, []finding, error) {
	rows := table{{"disk", "the turn", "what it says", "sessions list", "laws broken", "next turn"}}
	var found []finding
	cases := diskCases
	if o.small {
		cases = []diskCase{diskCases[0], diskCases[len(diskCases)-1]}
	}
	for i, c := range cases {
		if !o.wants(c.name) {
			continue
		}
		row, broken, err := c.run(ctx, o, filepath.Join(o.scratch, fmt.Sprintf("disk-%d", i)))
		if errors.Is(err, errNoDisk) {
			return append(rows, []string{c.name, "not tried: " + err.Error(), "", "", "", ""}), found, nil
		}
		if err != nil {
			return rows, found, fmt.Errorf("%s: %w", c.name, err)
		}
		rows = append(rows, row)
		for _, b := range broken {
			found = append(found, finding{"disk", c.name, b})
		}
	}
	return rows, found, nil
}

// run runs a turn, fills the disk, runs a second turn, frees the disk, and runs a third.
func (c diskCase) run(ctx context.Context, o options, dir string) ([]string, []string, error) {
	d, err := mountDisk(ctx, dir, diskSize)
	if err != nil {
		return nil, nil, err
	}
	defer d.close()
	m := &model{commands: func(mark string, number int) string {
		if mark == "T2" && number == 1 && c.free < 0 {
			return "head -c 100000000 /dev/zero > ballast; echo filled"
		}
		return fmt.Sprintf("echo %[1]s >> effects.txt && echo done-%[1]s", effect(mark, number))
	}}
	server := faultserver.New(m.decide)
	defer server.Close()
	who, err := d.machine(o.hermes, fmt.Sprintf(crashConfig, server.URL+"/v1"))
	if err != nil {
		return nil, nil, err
	}
	var broken, finished []string
	turn := func(mark string, more ...string) (ended, bool) {
		e, err := who.run(ctx, append([]string{"-z", order(mark, 3)}, more...)...)
		if err != nil {
			broken = append(broken, err.Error())
			return e, false
		}
		ok := e.status == 0 && e.out == done(mark)
		if ok {
			finished = append(finished, mark)
		}
		return e, ok
	}
	if e, ok := turn("T1"); !ok {
		return nil, nil, fmt.Errorf("the first turn, with space: %s", e.complaint())
	}
	ballast := filepath.Join(d.outside, "work", "ballast")
	if c.free >= 0 {
		if err := fill(ballast, c.free); err != nil {
			return nil, nil, err
		}
	}
	row := []string{c.name, "ended well", "", "works", "0", "ended well"}
	if e, ok := turn("T2", "-r", "latest"); !ok {
		row[1], row[2] = fmt.Sprintf("status %d", e.status), e.complaint()
		if !saysDisk.MatchString(e.complaint()) || e.status < 1 || strings.Contains(e.errText, "goroutine ") {
			broken = append(broken, fmt.Sprintf("with no space the turn ended with status %d and says %q", e.status, e.complaint()))
		}
	}
	if e, err := who.run(ctx, "sessions", "list", "--all"); err != nil || e.status != 0 || e.out == "" {
		row[3] = "fails: " + e.complaint()
		broken = append(broken, "with no space, sessions list fails: "+e.complaint())
	}
	if err := os.Remove(ballast); err != nil {
		broken = append(broken, "the disk was not filled: "+err.Error())
	}
	if e, ok := turn("T3", "-r", "latest"); !ok {
		row[5] = "fails: " + e.complaint()
		broken = append(broken, "with space again, the next turn fails: "+e.complaint())
	}
	kept, err := who.read(ctx)
	if err != nil {
		broken = append(broken, "the database cannot be read: "+err.Error())
	} else {
		requests := m.take()
		broken = append(broken, lawsOfStore(kept, requests, finished)...)
		broken = append(broken, lawsOfRequests(requests)...)
		broken = append(broken, lawsOfEffects(filepath.Join(d.outside, "work"), kept)...)
	}
	row[4] = fmt.Sprint(len(broken))
	return row, broken, ctx.Err()
}

// fill writes zeros until the disk is full, then frees this many bytes.
func fill(path string, free int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	zeros := make([]byte, 1<<10)
	for {
		if _, err := f.Write(zeros); err != nil {
			break // full
		}
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	return f.Truncate(max(0, size-free))
}

// errNoDisk says that no small disk can be made here.
var errNoDisk = errors.New("no small disk can be mounted here; it needs Linux, user namespaces, unshare and nsenter")

// smallDisk is a file system in memory, in a mount namespace of its own.
type smallDisk struct {
	dir     string // where it is for programs inside
	outside string // where it is for this process
	inside  []string
	close   func()
}

// machine makes a machine whose home and folder are on the disk.
func (d *smallDisk) machine(hermes, config string) (*machine, error) {
	outside, err := newMachine(hermes, d.outside, config)
	if err != nil {
		return nil, err
	}
	temp := d.dir + "-tmp"
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return nil, err
	}
	m := &machine{hermes: hermes, home: filepath.Join(d.dir, "home", ".hermes"), work: filepath.Join(d.dir, "work"), temp: temp, root: strings.TrimSuffix(d.outside, d.dir)}
	m.inside = append(d.inside, "sh", "-c", `cd "$0" && exec "$@"`, m.work)
	for _, e := range outside.env {
		m.env = append(m.env, strings.ReplaceAll(e, d.outside, d.dir))
	}
	return m, nil
}
