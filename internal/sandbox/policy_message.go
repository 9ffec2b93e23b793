package sandbox

import "strings"

// The lists of a policy, as they travel: each entry begins with a letter.
const (
	readLetter      = "r"
	writeLetter     = "w"
	protectedLetter = "p"
	hiddenLetter    = "h"
	deviceLetter    = "d"
	tempLetter      = "t"
	homeLetter      = "H"
	privateLetter   = "P"
)

// buildMessage is the first message to a keeper.
func buildMessage(p Policy) *message {
	m := &message{Kind: build, N: int64(p.Layer), Flag: p.Nested, Slots: []int64{int64(p.Network)}}
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
	add(tempLetter, p.Temp)
	add(homeLetter, p.Home)
	add(privateLetter, p.PrivateHome)
	return m
}

// policyOf reads it.
func policyOf(m *message) (Policy, error) {
	if m.Kind != build || len(m.Slots) != 1 {
		return Policy{}, errMessage
	}
	p := Policy{Layer: Layer(m.N), Nested: m.Flag, Network: Network(m.Slots[0])}
	for _, entry := range m.List {
		if entry == "" {
			return Policy{}, errMessage
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
		case tempLetter:
			p.Temp = path
		case homeLetter:
			p.Home = path
		case privateLetter:
			p.PrivateHome = path
		default:
			return Policy{}, errMessage
		}
		if strings.ContainsRune(path, 0) {
			return Policy{}, errMessage
		}
	}
	return p, nil
}
