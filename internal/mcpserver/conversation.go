package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/text"
)

// unlisted are the sources that lists leave out unless they are asked for: users do not return to
// these sessions.
func unlisted() []string { return []string{"oneshot", "kanban", "tool", hermes.PlatformChild} }

func (s *Server) addConversations() {
	add(s, tool{name: "conversations_list", title: "List conversations", about: "List the conversations of this Hermes, last active first."}, s.conversations)
	add(s, tool{name: "conversation_get", title: "Show a conversation", about: "Describe one conversation: title, model, folder, times, and whether it runs."}, s.describe)
	add(s, tool{name: "messages_read", title: "Read messages", about: "Read messages of a conversation in order, by default the newest. Page back with before_message_id, read on with after_message_id, or read the rest of one long message with message_id and offset."}, s.messages)
	add(s, tool{name: "messages_search", title: "Search messages", about: `Search the messages of all conversations for words. "quotes" make a phrase, word* a prefix; OR and NOT work.`}, s.search)
	addContent(s, tool{name: "attachments_fetch", title: "Fetch an attachment", about: "Fetch a picture of a message, with the index that messages_read names. A large one comes in pieces: read on with next_offset."}, s.attachment)
}

type conversationsArgs struct {
	Source   string `json:"source,omitempty" jsonschema:"only those of this source, such as cli or telegram"`
	Running  bool   `json:"running,omitempty" jsonschema:"only those that a process runs now"`
	Archived bool   `json:"archived,omitempty" jsonschema:"include archived ones"`
	Limit    int    `json:"limit,omitempty" jsonschema:"at most this many; 20 by default, 200 at most"`
	Offset   int    `json:"offset,omitempty" jsonschema:"skip this many"`
}

type conversationsResult struct {
	Conversations []conversation `json:"conversations"`
	Next          int            `json:"next_offset,omitempty" jsonschema:"set if there are more"`
}

func (s *Server) conversations(ctx context.Context, _ caller, in conversationsArgs) (conversationsResult, error) {
	limit, offset := within(in.Limit, 20, maxResults), max(in.Offset, 0)
	f := protocol.Filter{Platform: in.Source, Live: in.Running, Archived: in.Archived, Limit: limit + 1, Offset: offset}
	if in.Source == "" {
		f.Exclude = unlisted()
	}
	list, err := s.cfg.Client.Sessions(ctx, f)
	if err != nil {
		return conversationsResult{}, err
	}
	out := conversationsResult{Conversations: []conversation{}}
	for i, info := range list {
		if i == limit {
			out.Next = offset + limit
			break
		}
		out.Conversations = append(out.Conversations, s.conversation(info))
	}
	return out, nil
}

type conversationArgs struct {
	ID string `json:"conversation_id" jsonschema:"an id, a unique beginning of one, or a title"`
}

func (s *Server) describe(ctx context.Context, _ caller, in conversationArgs) (conversation, error) {
	info, err := s.find(ctx, in.ID)
	return s.conversation(info), err
}

type messagesArgs struct {
	Conversation string `json:"conversation_id" jsonschema:"an id, a unique beginning of one, or a title"`
	After        *int64 `json:"after_message_id,omitempty" jsonschema:"only messages after this one, from there on; 0 reads from the beginning"`
	Before       int64  `json:"before_message_id,omitempty" jsonschema:"only messages before this one"`
	Limit        int    `json:"limit,omitempty" jsonschema:"at most this many; 30 by default, 200 at most"`
	Tools        bool   `json:"include_tools,omitempty" jsonschema:"include the results of tools"`
	Message      int64  `json:"message_id,omitempty" jsonschema:"only this message"`
	Offset       int    `json:"offset,omitempty" jsonschema:"begin at this character of the message"`
}

type messagesResult struct {
	Conversation string    `json:"conversation_id"`
	Messages     []message `json:"messages"`
	More         bool      `json:"more,omitempty" jsonschema:"there are more in the direction that was read"`
	// Oldest and Newest are the ends of what was looked at, also of what was left out.
	Oldest int64 `json:"oldest_message_id,omitempty" jsonschema:"page back with before_message_id"`
	Newest int64 `json:"newest_message_id,omitempty" jsonschema:"read on with after_message_id"`
}

func (s *Server) messages(ctx context.Context, _ caller, in messagesArgs) (messagesResult, error) {
	info, err := s.find(ctx, in.Conversation)
	if err != nil {
		return messagesResult{}, err
	}
	out := messagesResult{Conversation: info.ID, Messages: []message{}}
	if in.Message > 0 {
		m, err := s.one(ctx, info.ID, in.Message)
		if err == nil {
			out.Messages, out.Oldest, out.Newest = append(out.Messages, s.message(m, in.Offset, maxText)), m.ID, m.ID
		}
		return out, err
	}
	limit := within(in.Limit, 30, maxResults)
	r := hermes.Range{Before: in.Before, Last: limit + 1}
	forward := in.After != nil
	if forward {
		r.After, r.First, r.Last = *in.After, limit+1, 0
	}
	list, err := s.cfg.Client.History(ctx, info.ID, r)
	if err != nil {
		return out, err
	}
	if len(list) > limit {
		out.More = true
		if forward {
			list = list[:limit]
		} else {
			list = list[len(list)-limit:]
		}
	}
	s.fill(&out, list, forward, in.Tools)
	return out, nil
}

// fill shows messages as far as a page holds their texts, from the end that was asked for.
func (s *Server) fill(out *messagesResult, list []hermes.Message, forward, tools bool) {
	size := 0
	shown := make([]message, len(list))
	from, to := 0, len(list)
	for n := range list {
		i := n
		if !forward {
			i = len(list) - 1 - n
		}
		if list[i].Role == hermes.RoleTool && !tools {
			continue
		}
		shown[i] = s.message(list[i], 0, maxText)
		size += len(shown[i].Text)
		for _, c := range shown[i].Calls {
			size += len(c.Arguments)
		}
		if size > maxPage && n > 0 {
			if out.More = true; forward {
				to = i
			} else {
				from = i + 1
			}
			break
		}
	}
	for i := from; i < to; i++ {
		if shown[i].ID != 0 {
			out.Messages = append(out.Messages, shown[i])
		}
	}
	if from < to {
		out.Oldest, out.Newest = list[from].ID, list[to-1].ID
	}
}

// one returns one message of a conversation.
func (s *Server) one(ctx context.Context, id string, wanted int64) (hermes.Message, error) {
	list, err := s.cfg.Client.History(ctx, id, hermes.Range{After: wanted - 1, First: 1})
	if err != nil {
		return hermes.Message{}, err
	}
	if len(list) == 0 || list[0].ID != wanted {
		return hermes.Message{}, fmt.Errorf("conversation %s has no message %d; read its messages with messages_read", id, wanted)
	}
	return list[0], nil
}

type searchArgs struct {
	Query        string `json:"query" jsonschema:"words to look for"`
	Conversation string `json:"conversation_id,omitempty" jsonschema:"only in this conversation"`
	Role         string `json:"role,omitempty" jsonschema:"only messages of user, assistant or tool"`
	Newest       bool   `json:"newest,omitempty" jsonschema:"newest first instead of the best first"`
	Limit        int    `json:"limit,omitempty" jsonschema:"at most this many; 10 by default, 50 at most"`
}

type hit struct {
	Conversation string      `json:"conversation_id"`
	Title        string      `json:"title,omitempty"`
	Message      int64       `json:"message_id"`
	Role         hermes.Role `json:"role"`
	Time         string      `json:"time,omitempty"`
	Snippet      string      `json:"snippet" jsonschema:"the text around the match, with >>> and <<< around the words"`
	origin
}

type searchResult struct {
	Hits []hit `json:"hits"`
}

// maxQuery bounds what is looked for, in characters.
const maxQuery = 1_000

func (s *Server) search(ctx context.Context, _ caller, in searchArgs) (searchResult, error) {
	out := searchResult{Hits: []hit{}}
	if in.Query == "" {
		return out, errors.New("query is empty; name some words")
	}
	q := hermes.SearchQuery{Text: text.Cut(in.Query, maxQuery), Newest: in.Newest, Limit: within(in.Limit, 10, 50), Exclude: []string{hermes.PlatformChild}}
	if in.Role != "" {
		q.Roles = []hermes.Role{hermes.Role(in.Role)}
	}
	if in.Conversation != "" {
		info, err := s.find(ctx, in.Conversation)
		if err != nil {
			return out, err
		}
		q.Session, q.Exclude = info.ID, nil
	}
	hits, err := s.cfg.Store.Search(ctx, q)
	if err != nil {
		return out, err
	}
	k := s.cfg.Mask
	for _, h := range hits {
		out.Hits = append(out.Hits, hit{
			Conversation: h.Session.ID, Title: k.Text(h.Session.Title), Message: h.Message.ID, Role: h.Message.Role,
			Time: h.Message.Time.UTC().Format("2006-01-02T15:04:05Z"), Snippet: text.Cut(k.Snippet(h.Snippet), maxEvent), origin: originOf(k.Text(h.Message.Provenance)),
		})
	}
	return out, nil
}

type attachmentArgs struct {
	Conversation string `json:"conversation_id"`
	Message      int64  `json:"message_id"`
	Index        int    `json:"index,omitempty" jsonschema:"which one, from 0"`
	Offset       int    `json:"offset,omitempty" jsonschema:"begin at this byte"`
}

type attachmentResult struct {
	attachment
	Offset int `json:"offset,omitempty"`
	Length int `json:"length" jsonschema:"how many bytes this piece has"`
	Next   int `json:"next_offset,omitempty" jsonschema:"set if there are more"`
	origin
}

// maxBytes bounds a piece of an attachment.
const maxBytes = 2 << 20

func (s *Server) attachment(ctx context.Context, _ caller, in attachmentArgs) ([]mcp.Content, attachmentResult, error) {
	var out attachmentResult
	info, err := s.find(ctx, in.Conversation)
	if err != nil {
		return nil, out, err
	}
	m, err := s.one(ctx, info.ID, in.Message)
	if err != nil {
		return nil, out, err
	}
	list := images(m)
	if in.Index < 0 || in.Index >= len(list) {
		return nil, out, fmt.Errorf("message %d has %s; the index counts from 0", m.ID, text.Plural(len(list), "attachment", "attachments"))
	}
	p := list[in.Index]
	out.attachment = attachment{in.Index, p.MediaType, len(p.Data), s.cfg.Mask.Text(p.URL)}
	out.origin = originOf(s.cfg.Mask.Text(m.Provenance))
	if len(p.Data) == 0 {
		return nil, out, nil // its address is all that there is
	}
	from := min(max(in.Offset, 0), len(p.Data))
	data := p.Data[from:min(from+maxBytes, len(p.Data))]
	out.Offset, out.Length = from, len(data)
	if end := from + len(data); end < len(p.Data) {
		out.Next = end
	}
	if from == 0 && out.Next == 0 {
		return []mcp.Content{&mcp.ImageContent{Data: data, MIMEType: p.MediaType}}, out, nil
	}
	at := fmt.Sprintf("%s/messages/%d/attachments/%d?offset=%d", conversationURI(info.ID), m.ID, in.Index, from)
	return []mcp.Content{&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: at, MIMEType: "application/octet-stream", Blob: data}}}, out, nil
}
