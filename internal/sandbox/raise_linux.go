package sandbox

import "os"

// handed are the files that a keeper gives to its owner.
type handed struct {
	proxy  *os.File // listens where the proxy is reached; nil if the owner has it
	notify *os.File // the notifications of seccomp; nil if there are none
}

func (h handed) files() (list []*os.File) {
	for _, f := range []*os.File{h.proxy, h.notify} {
		if f != nil {
			list = append(list, f)
		}
	}
	return list
}

// slots say which file is where among those handed over: the proxy's and seccomp's.
func (h handed) slots() []int64 {
	s := []int64{-1, -1}
	n := int64(0)
	for i, f := range []*os.File{h.proxy, h.notify} {
		if f != nil {
			s[i] = n
			n++
		}
	}
	return s
}

// raise builds the walls around this process.
func raise(p Policy) (handed, []string, error) {
	return handed{}, nil, nil
}
