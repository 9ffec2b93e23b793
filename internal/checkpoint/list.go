package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/object"
	"hermes/internal/order"
)

// Meta says who makes a snapshot and why.
type Meta struct {
	Session string          `json:"session,omitempty"`
	Turn    string          `json:"turn,omitempty"`   // of the session; any text that differs between turns
	Reason  string          `json:"reason,omitempty"` // such as "before write_file a.go"
	Name    string          `json:"name,omitempty"`   // that the user or the model gave it
	At      json.RawMessage `json:"at,omitempty"`     // the caller's own: where the conversation is
}

// Snapshot is a state of a workspace that can be restored.
type Snapshot struct {
	ID     string    `json:"id"`
	Number int       `json:"number"` // counts up in a workspace and is not used again
	Time   time.Time `json:"time"`
	Meta
	// Parent is the snapshot that this one followed, "" if it is the first one or that was
	// pruned. A snapshot after a restore follows the restored one, so they form a tree.
	Parent string      `json:"parent,omitempty"`
	Tree   object.Hash `json:"tree"`
	Mode   fs.FileMode `json:"mode"` // of the folder itself
	Files  int         `json:"files"`
	Size   int64       `json:"bytes"` // of all files
	// LeftOut says what is not in the snapshot.
	LeftOut []Omitted `json:"left_out,omitempty"`
	// Moves is the last entry of the ledger before the snapshot.
	Moves int64 `json:"moves"`
}

// Omitted counts what one rule leaves out. An ignored folder counts once.
type Omitted struct {
	Why   string   `json:"why"`
	Count int      `json:"count"`
	First []string `json:"first"` // paths of the first ones
}

// A list is the file that names the snapshots of a workspace. A snapshot exists when the list
// has it.
type list struct {
	Version   int        `json:"version"`
	Folder    string     `json:"folder"`
	Last      int        `json:"last"` // the last number
	Head      string     `json:"head,omitempty"`
	Snapshots []Snapshot `json:"snapshots"`
}

const (
	listName    = "snapshots.json"
	listVersion = 1
)

func loadList(path string) (list, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list{Version: listVersion}, nil
	}
	if err != nil {
		return list{}, err
	}
	return decodeList(path, data)
}

func decodeList(path string, data []byte) (list, error) {
	var l list
	if err := json.Unmarshal(data, &l); err != nil {
		return list{}, fmt.Errorf("%s is damaged: %w; remove its folder to start again", path, err)
	}
	if l.Version != listVersion {
		return list{}, fmt.Errorf("%s was written by another version of the program", path)
	}
	return l, nil
}

// saveList replaces the list and makes that durable.
func (w *workspace) saveList() error {
	data, err := json.MarshalIndent(w.list, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.Write(w.file(listName), data, atomicfile.Options{})
}

// find returns the snapshot with an id, or with the beginning of one that is unique, or the
// one with a number.
func (l *list) find(ref string) (Snapshot, error) {
	var found []Snapshot
	for _, s := range l.Snapshots {
		if s.ID == ref || fmt.Sprint(s.Number) == ref {
			return s, nil
		}
		if len(ref) >= 4 && len(ref) < len(s.ID) && s.ID[:len(ref)] == ref {
			found = append(found, s)
		}
	}
	for _, s := range slices.Backward(l.Snapshots) { // the newest of equal names
		if ref != "" && s.Name == ref {
			return s, nil
		}
	}
	if len(found) != 1 {
		return Snapshot{}, fmt.Errorf("%w: %q", ErrUnknown, ref)
	}
	return found[0], nil
}

// drop removes snapshots. Those that followed one of them follow its parent then.
func (l *list) drop(gone func(Snapshot) bool) (dropped int) {
	parents := map[string]string{}
	l.Snapshots = slices.DeleteFunc(l.Snapshots, func(s Snapshot) bool {
		if !gone(s) {
			return false
		}
		parents[s.ID] = s.Parent
		dropped++
		return true
	})
	for i, s := range l.Snapshots {
		l.Snapshots[i].Parent = nearest(parents, s.Parent)
	}
	l.Head = nearest(parents, l.Head)
	return dropped
}

// nearest returns the first ancestor that is not gone. A list that is damaged may have a
// circle: then there is none.
func nearest(parents map[string]string, id string) string {
	for range len(parents) + 1 {
		above, gone := parents[id]
		if !gone {
			return id
		}
		id = above
	}
	return ""
}

func sortBy[T any, K cmp.Ordered](list []T, key func(T) K) {
	order.By(list, func(a, b T) int { return cmp.Compare(key(a), key(b)) })
}

// Branch is one line of the tree that snapshots form.
type Branch struct {
	Snapshot
	// Lines are what to draw before it, such as "│ └─".
	Lines string
}

// Tree returns the snapshots of a workspace as a tree, oldest first. What follows a snapshot
// without a branch stays in its column; where several follow one, all but the last are indented.
func (w Workspace) Tree() []Branch {
	known := map[string]bool{}
	for _, s := range w.Snapshots {
		known[s.ID] = true
	}
	below := map[string][]Snapshot{}
	for _, s := range w.Snapshots {
		parent := s.Parent
		if !known[parent] || parent == s.ID {
			parent = ""
		}
		below[parent] = append(below[parent], s)
	}
	var out []Branch
	seen := map[string]bool{} // a damaged list may have a circle
	var draw func(id, column string)
	draw = func(id, column string) {
		list := below[id]
		for i, s := range list {
			if seen[s.ID] {
				continue
			}
			seen[s.ID] = true
			last := i == len(list)-1
			switch {
			case last: // the newest one goes on in the column
				out = append(out, Branch{s, column})
				draw(s.ID, column)
			default:
				out = append(out, Branch{s, column + "├─"})
				draw(s.ID, column+"│ ")
			}
		}
	}
	draw("", "")
	for _, s := range w.Snapshots { // what is in a circle
		if !seen[s.ID] {
			out = append(out, Branch{s, ""})
		}
	}
	return out
}

// Position is what the program puts into [Meta.At]: where a conversation was.
type Position struct {
	// Message is the id of the user's message that the snapshot's turn answers; 0 is unknown.
	Message int64 `json:"message,omitempty"`
	// Replaced are the messages that a rollback took away after the snapshot; nil if none did.
	Replaced *Replaced `json:"replaced,omitempty"`
}

// Replaced are the messages at the end of a conversation before a rollback replaced them.
type Replaced struct {
	After    int64   `json:"after,omitempty"` // the id of the message before them; 0 if they were the first
	Messages []int64 `json:"messages,omitempty"`
}

// Position returns where the conversation of a snapshot was; the zero value is unknown.
func (s Snapshot) Position() Position {
	var p Position
	_ = json.Unmarshal(s.At, &p) // what cannot be read is unknown
	return p
}
