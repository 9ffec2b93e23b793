package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

func (s *Server) addKnowledge() {
	add(s, tool{name: "memory_read", title: "Read memory", about: "Read what the agent remembers between conversations: its notes, or what it knows of the user."}, s.readMemory)
	add(s, tool{name: "memory_search", title: "Search memory", about: "Find the memories that contain all words, in any case."}, s.searchMemory)
	add(s, tool{name: "skills_list", title: "List skills", about: "List the skills of the agent: stored procedures with a description of when they apply."}, s.listSkills)
	add(s, tool{name: "skill_view", title: "Read a skill", about: "Read a skill, or another file of it."}, s.viewSkill)
}

type memoryArgs struct {
	File   string `json:"file,omitempty" jsonschema:"memory (notes, the default) or user (who the user is)"`
	Offset int    `json:"offset,omitempty" jsonschema:"skip this many entries"`
	Limit  int    `json:"limit,omitempty" jsonschema:"at most this many; 100 by default, 200 at most"`
}

// remembered is one memory.
type remembered struct {
	File string `json:"file"`
	Text string `json:"text"`
	From string `json:"from" jsonschema:"who wrote it, when, and in which conversation"`
	origin
}

type memoryResult struct {
	Entries []remembered `json:"entries"`
	Next    int          `json:"next_offset,omitempty" jsonschema:"set if there are more"`
}

// memoryFiles are the names of the files of memory.
func memoryFiles() []string { return []string{"memory", "user"} }

// entries are the memories of a file.
func (s *Server) entries(file string) ([]remembered, error) {
	all, err := s.cfg.Memory.Entries(file)
	if err != nil {
		return nil, err
	}
	list := make([]remembered, len(all))
	for i, e := range all {
		text, next := piece(s.cfg.Mask.Text(e.Text), 0, maxEvent)
		if next > 0 {
			text += " … [cut]"
		}
		list[i] = remembered{file, text, s.cfg.Mask.Text(e.From), originOf(s.cfg.Mask.Text(e.Provenance))}
	}
	return list, nil
}

func (s *Server) readMemory(_ context.Context, _ caller, in memoryArgs) (out memoryResult, err error) {
	file := cmp.Or(in.File, "memory")
	if !slices.Contains(memoryFiles(), file) {
		return out, fmt.Errorf("there is no memory %.100q; use memory (notes) or user (who the user is)", file)
	}
	list, err := s.entries(file)
	out.Entries, out.Next = page(list, in.Offset, within(in.Limit, 100, maxResults))
	return out, err
}

type memorySearchArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many; 20 by default, 200 at most"`
}

func (s *Server) searchMemory(_ context.Context, _ caller, in memorySearchArgs) (out memoryResult, err error) {
	words := strings.Fields(strings.ToLower(in.Query))
	if len(words) == 0 {
		return out, errors.New("query is empty; name some words")
	}
	var found []remembered
	for _, t := range memoryFiles() {
		list, err := s.entries(t)
		if err != nil {
			return out, err
		}
		for _, e := range list {
			if hasAll(strings.ToLower(e.Text), words) {
				found = append(found, e)
			}
		}
	}
	out.Entries, _ = page(found, 0, within(in.Limit, 20, maxResults))
	return out, nil
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

type skillsArgs struct {
	Category string `json:"category,omitempty" jsonschema:"only skills of this category"`
	Offset   int    `json:"offset,omitempty" jsonschema:"skip this many"`
	Limit    int    `json:"limit,omitempty" jsonschema:"at most this many; 100 by default, 200 at most"`
}

type skillItem struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Category    string   `json:"category,omitempty"`
	Source      string   `json:"source"`
	Tags        []string `json:"tags,omitempty"`
	origin
}

type skillsResult struct {
	Skills []skillItem `json:"skills"`
	Next   int         `json:"next_offset,omitempty" jsonschema:"set if there are more"`
}

func (s *Server) skillItem(k hermes.Skill) skillItem {
	return skillItem{k.Name, s.cfg.Mask.Text(k.Description), k.Category, string(k.Source), k.Tags, originOf(k.Provenance())}
}

func (s *Server) listSkills(ctx context.Context, _ caller, in skillsArgs) (out skillsResult, err error) {
	list, err := s.cfg.Skills.List(ctx)
	if err != nil && len(list) == 0 {
		return out, err
	}
	var items []skillItem
	for _, k := range list {
		if in.Category == "" || strings.EqualFold(k.Category, in.Category) {
			items = append(items, s.skillItem(k))
		}
	}
	out.Skills, out.Next = page(items, in.Offset, within(in.Limit, 100, maxResults))
	return out, nil
}

type skillArgs struct {
	Name   string `json:"name"`
	File   string `json:"file,omitempty" jsonschema:"another file of the skill; SKILL.md by default"`
	Offset int    `json:"offset,omitempty" jsonschema:"begin at this character"`
}

type skillResult struct {
	skillItem
	File    string   `json:"file"`
	Content string   `json:"content"`
	Next    int      `json:"next_offset,omitempty" jsonschema:"set if the content was cut: read on with this offset"`
	Files   []string `json:"files,omitempty" jsonschema:"its other files"`
}

func (s *Server) viewSkill(ctx context.Context, _ caller, in skillArgs) (out skillResult, err error) {
	t, err := s.cfg.Skills.View(ctx, in.Name, in.File)
	if err != nil {
		if errors.Is(err, hermes.ErrNotFound) {
			err = fmt.Errorf("%w; list the skills with skills_list", err)
		}
		return out, err
	}
	out = skillResult{skillItem: s.skillItem(t.Skill), File: t.File}
	out.Files, _ = page(t.Files, 0, maxResults)
	out.Content, out.Next = piece(s.cfg.Mask.Text(t.Content), in.Offset, maxText)
	return out, nil
}
