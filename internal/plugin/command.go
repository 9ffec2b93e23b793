package plugin

import (
	"context"
	"fmt"

	"hermes"
	"hermes/internal/text"
)

// The methods of slash commands.
const (
	methodCommands = "commands/list"
	methodCommand  = "commands/run"
)

const (
	maxSaid = 32_000  // characters of a message
	maxShow = 100_000 // characters of text for the user
)

// commandCall are the params of commands/run, and commandSaid its result.
type commandCall struct {
	Call    string      `json:"call"`
	Name    string      `json:"name"`
	Args    string      `json:"args"`
	Session wireSession `json:"session"`
}

type commandSaid struct {
	Text string `json:"text,omitempty"`
	Say  string `json:"say,omitempty"`
}

// SlashCommand is a slash command of a plugin.
type SlashCommand struct {
	Command
	Plugin string
}

// SlashCommands returns those of all plugins, in the order of their plugins and names. It starts none.
func (s *Plugins) SlashCommands() []SlashCommand {
	var list []SlashCommand
	for _, p := range s.list {
		for _, c := range p.pin.Offer.Commands {
			list = append(list, SlashCommand{c, p.Name()})
		}
	}
	return list
}

// RunCommand runs a slash command for the user. shown is Markdown for the user; message, if it is not
// empty, is for the model, and untrusted. Commands of a memory are refused to whom its tools are.
func (s *Plugins) RunCommand(ctx context.Context, c SlashCommand, args string, in hermes.SessionRef) (shown, message string, err error) {
	for _, p := range s.list {
		if p.Name() != c.Plugin {
			continue
		}
		if err := p.remembersFor(in); err != nil {
			return "", "", err
		}
		var r commandSaid
		err := p.call(ctx, methodCommand, nil, p.manifest.callTime(), func(id string) any {
			return commandCall{id, c.Name, text.Cut(args, maxSaid), session(in)}
		}, &r)
		return text.Cut(text.Plain(r.Text), maxShow), text.Cut(text.Plain(r.Say), maxSaid), err
	}
	return "", "", fmt.Errorf("the plugin %s is not used any more", c.Plugin)
}
