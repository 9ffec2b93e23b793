package app

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"

	"hermes"
	"hermes/internal/home"
	"hermes/internal/prompt"
	"hermes/internal/skill"
	"hermes/internal/tool/skills"
	"hermes/internal/toolset"
	"hermes/internal/undo"
)

// makeSkills makes the library of skills, which all sessions share.
func (a *App) makeSkills() (*skill.Library, error) {
	cfg, err := a.config()
	if err != nil {
		return nil, err
	}
	c, h := cfg.Skills(), cfg.Home()
	userHome, _ := os.UserHomeDir() // without one ~ stays as it is
	lib := skill.Config{
		Home: h, CreateDir: home.Expand(c.CreateDir, userHome), OS: runtime.GOOS, Getenv: cfg.Getenv, Now: a.opts.Now,
		KeyOf:    keyOf(cfg),
		Disabled: c.Disabled, PlatformDisabled: c.PlatformDisabled, Approve: c.WriteApproval, Guard: c.GuardAgentCreated,
		Record: func(ctx context.Context, by, what string, paths []string, write func() error) error {
			return a.changes(h).Record(ctx, undo.Note{Kind: "skill", Actor: by, What: what}, paths, write)
		},
	}
	for _, dir := range c.ExternalDirs {
		lib.External = append(lib.External, home.Expand(dir, userHome))
	}
	return skill.New(lib), nil
}

// Skills returns the library of skills for commands.
func (a *App) Skills() (*Skills, error) {
	lib, err := a.skills()
	if err != nil {
		return nil, err
	}
	return &Skills{lib.On("cli"), a}, nil
}

// Skills is the library of skills with what commands need.
type Skills struct {
	*skill.Library
	app *App
}

// SetApproval sets skills.write_approval, also for running sessions.
func (s *Skills) SetApproval(ctx context.Context, on bool) error {
	_, err := s.app.save(ctx, "skills.write_approval", fmt.Sprint(on))
	if err == nil {
		s.Library.SetApproval(on)
	}
	return err
}

// skillTools returns the toolset skills.
func (a *App) skillTools() hermes.Toolset {
	return skills.New(skills.Config{
		Library: func(s hermes.SessionRef) hermes.SkillLibrary {
			lib, err := a.skills()
			if err != nil { // reported where the configuration is used
				return skill.New(skill.Config{})
			}
			return a.trials().Watch(lib.On(toolset.Preset(s.Platform)).In(a.projectFolder(s)))
		},
		Waits: func(name string) bool {
			lib, err := a.skills()
			return err == nil && lib.Waits(context.Background(), name)
		},
		Used: func(ctx context.Context, name string) {
			lib, err := a.skills()
			if err == nil {
				err = lib.Count(ctx, name, skill.Used)
			}
			if err != nil {
				a.log().Warn("count the use of a skill", "skill", name, "err", err)
			}
		},
	})
}

// skillsIn adds to a prompt the index of skills, if the tool that loads them is
// offered, and the skills of the command line.
func (a *App) skillsIn(ctx context.Context, in *prompt.Input, run hermes.RunSpec, tools []string) {
	lib, err := a.skills()
	if err != nil || run.Prompt.IgnoreRules {
		return
	}
	lib = lib.On(toolset.Preset(run.Origin.Platform)).In(projectOf(run.Workspace))
	if len(run.Prompt.Skills) > 0 && run.Origin.Platform != "subagent" {
		e, err := lib.Load(ctx, run.Prompt.Skills)
		if err != nil {
			a.log().Warn("load skills", "session", run.Session, "err", err)
		}
		in.Guides = append(in.Guides, prompt.Section{Name: "preloaded-skills", Tier: prompt.Context, Text: e.Text, Provenance: e.Provenance})
	}
	if !slices.Contains(tools, "skill_view") {
		return
	}
	list, err := lib.Listing(ctx, skill.Offer{Tools: tools, Has: toolset.Has(ctx, tools)})
	if err != nil {
		a.log().Warn("list skills", "session", run.Session, "err", err)
	}
	if text := list.Text(); text != "" {
		in.Guides = append(in.Guides, prompt.Section{Name: "skills", Tier: prompt.Context, Text: text, Shorten: list.Within})
	}
}

// CheckSkills returns an error if a skill of a run cannot be loaded.
func (a *App) CheckSkills(ctx context.Context, run hermes.RunSpec) error {
	lib, err := a.skills()
	if err != nil {
		return err
	}
	if len(run.Prompt.Skills) == 0 {
		return nil
	}
	w, err := a.workspace(run)
	if err != nil {
		return err
	}
	for _, name := range run.Prompt.Skills {
		if _, err := lib.In(projectOf(w)).View(ctx, name, ""); err != nil {
			return &ExitError{Status: 2, Err: fmt.Errorf("--skills: %w", err)}
		}
	}
	return nil
}

// skillVariables lists the variables that skills want passed to commands.
func (a *App) skillVariables(ctx context.Context) []string {
	lib, err := a.skills()
	if err != nil {
		return nil
	}
	wanted, err := lib.Variables(ctx)
	if err != nil {
		a.log().Warn("list the variables of skills", "err", err)
	}
	return wanted
}

// projectOf returns the folder whose skills a session may have; "" if it is not on this machine.
func projectOf(w hermes.Workspace) string {
	if w.Elsewhere() {
		return ""
	}
	return w.Dir
}

// projectFolder is projectOf for a live session.
func (a *App) projectFolder(s hermes.SessionRef) string {
	if a.places.Has(s.ID) {
		return ""
	}
	return s.Dir
}
