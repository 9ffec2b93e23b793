package sandbox

import "strings"

// The lists of a policy, as they travel: each entry begins with a letter.
const (
	readLetter      = "r"
	writeLetter     = "w"
	protectedLetter = "p"
	hiddenLetter    = "h"
	deviceLetter    = "d"
	linkLetter      = "l"
	tempLetter      = "t"
	homeLetter      = "H"
	privateLetter   = "P"
	canaryLetter    = "c"
)

// order is what a keeper is to be.
type order struct {
	policy Policy
	target Target
	name   string // of the process; empty keeps its own
	abi    int    // of Landlock; 0 is the kernel's
}

// encode makes the first message to a keeper.
func (o order) encode() *message {
	p := o.policy
	m := &message{Kind: build, N: int64(p.Layer), Flag: p.Nested, Text: o.name, Slots: []int64{int64(p.Network), int64(o.target.Port), int64(o.target.Owner), int64(o.abi)}}
	add := func(letter string, list ...string) {
		for _, path := range list {
			m.List = append(m.List, letter+path)
		}
	}
	add(readLetter, p.Read...)
	add(writeLetter, p.Write...)
	add(protectedLetter, p.Protected...)
	add(hiddenLetter, p.Hidden...)
	add(deviceLetter, p.Devices...)
	add(linkLetter, p.Links...)
	add(tempLetter, p.Temp)
	add(homeLetter, p.Home)
	add(privateLetter, p.PrivateHome)
	add(canaryLetter, o.target.Canary)
	return m
}

// orderOf reads it.
func orderOf(m *message) (order, error) {
	if m.Kind != build || len(m.Slots) != 4 {
		return order{}, errMessage
	}
	p := Policy{Layer: Layer(m.N), Nested: m.Flag, Network: Network(m.Slots[0])}
	t := Target{Port: int(m.Slots[1]), Owner: int(m.Slots[2])}
	for _, entry := range m.List {
		if entry == "" {
			return order{}, errMessage
		}
		path := entry[1:]
		switch entry[:1] {
		case readLetter:
			p.Read = append(p.Read, path)
		case writeLetter:
			p.Write = append(p.Write, path)
		case protectedLetter:
			p.Protected = append(p.Protected, path)
		case hiddenLetter:
			p.Hidden = append(p.Hidden, path)
		case deviceLetter:
			p.Devices = append(p.Devices, path)
		case linkLetter:
			p.Links = append(p.Links, path)
		case tempLetter:
			p.Temp = path
		case homeLetter:
			p.Home = path
		case privateLetter:
			p.PrivateHome = path
		case canaryLetter:
			t.Canary = path
		default:
			return order{}, errMessage
		}
		if strings.ContainsRune(path, 0) {
			return order{}, errMessage
		}
	}
	return order{p, t, m.Text, int(m.Slots[3])}, nil
}
