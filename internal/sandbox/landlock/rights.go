package landlock

// The rights on files, as the kernel numbers them.
const (
	execute     uint64 = 1 << 0
	writeFile   uint64 = 1 << 1
	readFile    uint64 = 1 << 2
	readDir     uint64 = 1 << 3
	removeDir   uint64 = 1 << 4
	removeFile  uint64 = 1 << 5
	makeChar    uint64 = 1 << 6
	makeDir     uint64 = 1 << 7
	makeReg     uint64 = 1 << 8
	makeSock    uint64 = 1 << 9
	makeFifo    uint64 = 1 << 10
	makeBlock   uint64 = 1 << 11
	makeSym     uint64 = 1 << 12
	refer       uint64 = 1 << 13 // from ABI 2
	truncate    uint64 = 1 << 14 // from ABI 3
	ioctlDev    uint64 = 1 << 15 // from ABI 5
	resolveUnix uint64 = 1 << 16 // from ABI 9

	bindTCP    uint64 = 1 << 0 // from ABI 4
	connectTCP uint64 = 1 << 1

	scopeAbstractUnix uint64 = 1 << 0 // from ABI 6
	scopeSignal       uint64 = 1 << 1
)

// What each kind of path in [Rules] is granted. Nothing grants the making of
// device nodes, which a process with the capability could use to reach a disk,
// and nothing grants Unix sockets of processes outside.
const (
	readRights   = execute | readFile | readDir
	deviceRights = readFile | writeFile | readDir | truncate | ioctlDev
	writeRights  = readRights | writeFile | removeDir | removeFile | makeDir | makeReg | makeSock |
		makeFifo | makeSym | refer | truncate
	// fileRights are those that a rule on something else than a folder may carry: the
	// kernel refuses a rule with any other.
	fileRights = execute | readFile | writeFile | truncate | ioctlDev | resolveUnix
)

// newest is the last ABI whose rights the package knows.
const newest = 9

// ruleset is what the kernel is asked to handle. Later kernels know more fields,
// and older ones fewer; they accept unknown fields that are zero.
type ruleset struct {
	fs, net, scoped uint64
}

// handled returns what is denied unless a rule grants it. With noTCP this
// includes TCP.
func handled(abi int, noTCP bool) ruleset {
	r := ruleset{fs: refer - 1} // all rights of ABI 1
	if abi >= 2 {
		r.fs |= refer
	}
	if abi >= 3 {
		r.fs |= truncate
	}
	if abi >= 4 && noTCP {
		r.net = bindTCP | connectTCP
	}
	if abi >= 5 {
		r.fs |= ioctlDev
	}
	if abi >= 6 {
		r.scoped = scopeAbstractUnix | scopeSignal
	}
	if abi >= 9 {
		r.fs |= resolveUnix
	}
	return r
}

// Row is a line of [Table].
type Row struct {
	// Right says what is restricted, in words for a user.
	Right string
	// Held says whether the ABI can restrict it.
	Held bool
	// Instead says what happens where it cannot. It is empty where Held is true.
	Instead string
}

// Table returns what a kernel with this ABI can restrict, for people to read. An
// ABI of 0 is a kernel without Landlock.
func Table(abi int) []Row {
	rows := []struct {
		since          int
		right, instead string
	}{
		{1, "reading, writing and executing files", "nothing can be restricted by Landlock"},
		{2, "moving files to another folder", "moving a file to another folder always fails"},
		{3, "truncating files", "seccomp refuses truncate, openat2, and O_TRUNC without writing"},
		{4, "TCP ports, as a second wall behind the supervisor", "only the supervisor of connections restricts TCP"},
		{5, "commands to devices (ioctl)", "devices that can be opened take every command"},
		{6, "signals to processes outside", "processes of the same user outside can be signalled"},
		{6, "abstract Unix sockets of processes outside", "seccomp refuses Unix sockets"},
		{8, "one domain for all threads", "one thread is restricted, and executes the program again"},
		{9, "named Unix sockets of processes outside", "seccomp refuses Unix sockets"},
	}
	table := make([]Row, len(rows))
	for i, r := range rows {
		table[i] = Row{Right: r.right, Held: abi >= r.since}
		if !table[i].Held {
			table[i].Instead = r.instead
		}
	}
	return table
}

// Lacks returns the rows of [Table] that a kernel with this ABI cannot hold.
func Lacks(abi int) []Row {
	var lacks []Row
	for _, row := range Table(abi) {
		if !row.Held {
			lacks = append(lacks, row)
		}
	}
	return lacks
}
