package spotify

// item is a track, an episode, an album, an artist, a playlist or a show, with what matters of it.
type item struct {
	Name        string  `json:"name"`
	Type        string  `json:"type"`
	URI         string  `json:"uri"`
	Duration    int     `json:"duration_ms"`
	Release     string  `json:"release_date"`
	TrackCount  int     `json:"total_tracks"`
	Description string  `json:"description"`
	Artists     []named `json:"artists"`
	Album       *named  `json:"album"`
	Show        *named  `json:"show"`
	Owner       *owner  `json:"owner"`
	Items       *total  `json:"items"`
	Tracks      *total  `json:"tracks"` // what older apps get in place of Items
}

type named struct {
	Name string `json:"name"`
	URI  string `json:"uri"`
}

type owner struct {
	ID   string `json:"id"`
	Name string `json:"display_name"`
}

type total struct {
	Total int `json:"total"`
}

type contextForm struct {
	URI string `json:"uri"`
}

// device is where Spotify plays.
type device struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	Active bool   `json:"is_active"`
	Volume *int   `json:"volume_percent,omitempty"`
}

// short is what a model reads of it.
func (i item) short() map[string]any {
	out := map[string]any{"name": i.Name, "uri": i.URI}
	if len(i.Artists) > 0 {
		names := make([]string, len(i.Artists))
		for n, a := range i.Artists {
			names[n] = a.Name
		}
		out["artists"] = names
	}
	for name, from := range map[string]*named{"album": i.Album, "show": i.Show} {
		if from != nil && from.Name != "" {
			out[name] = from.Name
			out[name+"_uri"] = from.URI
		}
	}
	if i.Duration > 0 {
		out["duration_ms"] = i.Duration
	}
	if i.Release != "" {
		out["release_date"] = i.Release
	}
	if i.Owner != nil {
		out["owner"] = i.Owner.Name
		if i.Owner.Name == "" {
			out["owner"] = i.Owner.ID
		}
	}
	switch {
	case i.TrackCount > 0:
		out["tracks"] = i.TrackCount
	case i.Items != nil:
		out["tracks"] = i.Items.Total
	case i.Tracks != nil:
		out["tracks"] = i.Tracks.Total
	}
	return out
}

func shorts(list []item) []map[string]any {
	out := []map[string]any{}
	for _, i := range list {
		if i.URI != "" { // what is not available is null
			out = append(out, i.short())
		}
	}
	return out
}

// page is a part of a list.
type page[T any] struct {
	Items  []T    `json:"items"`
	Total  int    `json:"total"`
	Offset int    `json:"offset"`
	Next   string `json:"next"`
}

// listed is what a model reads of a page. It says where the next one begins.
func listed[T any](p page[T], items any) map[string]any {
	out := map[string]any{"items": items, "total": p.Total}
	if p.Next != "" {
		out["next_offset"] = p.Offset + len(p.Items)
	}
	return out
}
