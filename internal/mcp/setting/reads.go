package setting

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Reads lists the files and folders that the program of a server reads because its settings name
// them: the program itself with what is installed beside it, files and folders among its
// arguments, and Reach.Read. path is the PATH, home the user's home folder, which is never
// listed as a whole.
func (s Server) Reads(path, home string) []string {
	f := finder{home: home, seen: map[string]bool{}}
	f.program(find(s.Command, path), path)
	for _, word := range s.Args {
		if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
			word = value
		}
		if !filepath.IsAbs(word) {
			if s.Dir == "" || word == "" || strings.HasPrefix(word, "-") {
				continue
			}
			word = filepath.Join(s.Dir, word)
		}
		info, err := os.Stat(word)
		switch {
		case err != nil:
		case info.IsDir():
			f.add(filepath.Clean(word))
		case runnable(word, info):
			f.program(filepath.Clean(word), path)
		default:
			f.add(filepath.Clean(word))
		}
	}
	for _, p := range s.Reach.Read {
		f.add(p)
	}
	slices.Sort(f.list)
	return f.list
}

// runnable reports whether a file among the arguments is run or interpreted, and not read as data.
func runnable(file string, info os.FileInfo) bool {
	switch filepath.Ext(file) {
	case ".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".rb", ".php", ".lua", ".jar", ".sh":
		return true
	}
	return info.Mode().Perm()&0o111 != 0 && info.Mode().IsRegular()
}

// find looks for a command as a shell does.
func find(command, path string) string {
	if strings.ContainsRune(command, filepath.Separator) {
		return command
	}
	for _, dir := range filepath.SplitList(path) {
		at := filepath.Join(dir, command)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && filepath.IsAbs(at) {
			return at
		}
	}
	return ""
}

// finder collects what is read.
type finder struct {
	home string
	seen map[string]bool
	list []string
}

func (f *finder) add(path string) {
	if !f.seen[path] {
		f.seen[path] = true
		f.list = append(f.list, path)
	}
}

// program adds a file that is run or interpreted, what is installed beside it, and what
// interprets it. The settings name the file; what is beside it is not added if that would be a
// whole home.
func (f *finder) program(file, path string) {
	if file == "" || f.seen[file] {
		return
	}
	f.add(file)
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return
	}
	f.add(real)
	for _, at := range []string{file, real} {
		if beside := f.beside(at); beside != "" {
			f.add(beside)
		}
	}
	for i, word := range shebang(real) {
		if i == 0 || !strings.HasPrefix(word, "-") {
			f.program(find(word, path), path)
		}
	}
}

// beside returns the folder of what a program needs: the modules it is one of, the prefix that
// it was installed to, or its own folder. It is "" for folders of the system, which everything
// may read, and for those that hold the user's home.
func (f *finder) beside(file string) string {
	dir := filepath.Dir(file)
	if before, _, in := strings.Cut(file, string(filepath.Separator)+"node_modules"+string(filepath.Separator)); in {
		dir = filepath.Join(before, "node_modules")
	} else if base := filepath.Base(dir); base == "bin" || base == "Scripts" {
		dir = filepath.Dir(dir)
	}
	for _, whole := range []string{f.home, "/usr", "/usr/local"} {
		if whole == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(whole); err == nil {
			whole = real
		}
		if rel, err := filepath.Rel(dir, whole); err == nil && filepath.IsLocal(rel) {
			return ""
		}
	}
	if f.home != "" && filepath.Dir(dir) == filepath.Clean(f.home) && strings.HasPrefix(filepath.Base(dir), ".") {
		return "" // settings and data of all programs, and keys
	}
	return dir
}

// shebang returns the words of the first line of a script, nil for other files.
func shebang(file string) []string {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, _ := bufio.NewReader(io.LimitReader(f, 512)).ReadString('\n')
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return nil
	}
	return strings.Fields(rest)
}
