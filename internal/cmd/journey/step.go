package journey

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/learning"
	"hermes/internal/markup"
	"hermes/internal/memory"
	"hermes/internal/order"
	"hermes/internal/skill"
	"hermes/internal/text"
)

// step is one thing that was learned.
type step struct {
	Ref     string    `json:"ref"`
	Kind    string    `json:"kind"`
	Date    time.Time `json:"date,omitzero"`
	By      string    `json:"by,omitempty"` // agent, person, import
	Session string    `json:"session,omitempty"`
	Text    string    `json:"text"`
	// Uses, Wins and Harms are counted for skills and learnings.
	Uses  *int `json:"uses,omitempty"`
	Wins  *int `json:"wins,omitempty"`
	Harms *int `json:"harms,omitempty"`

	what string // one line for the user
}

func kinds() []string { return []string{"memory", "user", "skill", "installed", "learning"} }

// steps collects everything that was learned, oldest first.
func (c *call) steps(ctx context.Context) ([]step, error) {
	out := []step{}
	for _, gather := range []func(context.Context) ([]step, error){c.remembered, c.skills, c.learned} {
		more, err := gather(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	order.By(out, when)
	return out, nil
}

func (c *call) remembered(context.Context) ([]step, error) {
	var out []step
	for _, t := range memory.Targets() {
		s, err := c.Memory.Read(t)
		if err != nil {
			return nil, err
		}
		for _, e := range s.Entries {
			out = append(out, step{
				Ref: refOf(t, e.Text), Kind: string(t), Date: e.Origin.At, By: e.Origin.By, Session: e.Origin.Session,
				Text: e.Text, what: "remembered: " + text.Short(markup.OneLine(e.Text), shownLine),
			})
		}
	}
	return out, nil
}

// refOf makes a reference to a memory entry from its text.
func refOf(t memory.Target, text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(t) + ":" + hex.EncodeToString(sum[:4])
}

func (c *call) skills(ctx context.Context) ([]step, error) {
	states, err := c.Library.States(ctx)
	if err != nil {
		return nil, err
	}
	usage, err := c.Library.Usages()
	if err != nil {
		return nil, err
	}
	lock, err := c.Library.Installed()
	if err != nil {
		return nil, err
	}
	var out []step
	for _, s := range states {
		u := usage[s.Name]
		st := step{Ref: "skill:" + s.Name, Text: s.Description, Session: u.Session, Uses: &u.Uses, Wins: &u.Wins, Harms: &u.Harms}
		rec, installed := lock.Skills[s.Name]
		switch {
		case s.Source == hermes.SkillUser:
			st.Kind, st.Date, st.By, st.what = "skill", u.Created, "person", "you wrote "+s.Name+": "+skill.Short(s.Description)
			if u.Agent {
				st.By, st.what = "agent", "learned "+s.Name+": "+skill.Short(s.Description)
			}
		case s.Source == hermes.SkillHub && installed:
			st.Kind, st.Date, st.By, st.what = "installed", rec.At, "person", "installed "+s.Name+" from "+rec.Identifier
		default:
			continue
		}
		out = append(out, st)
	}
	return out, nil
}

func (c *call) learned(ctx context.Context) ([]step, error) {
	list, err := c.Learnings.Find(ctx, hermes.LearningQuery{Known: true, Limit: -1})
	if err != nil {
		return nil, err
	}
	var out []step
	for _, l := range list {
		by := "agent"
		if l.Session == "" {
			by = "person"
		}
		out = append(out, step{
			Ref: fmt.Sprintf("learning:%d", l.ID), Kind: "learning", Date: l.Created, By: by, Session: l.Session, Text: l.Pattern + " → " + l.Fix,
			Uses: &l.Shown, Wins: &l.Helped, Harms: &l.Failed, what: "fix for " + learning.Line(l),
		})
	}
	return out, nil
}
