package enginetest

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"hermes/internal/proc"
)

// addImage gives the engine its image: a folder tree with busybox under all its names.
func (e *Engine) addImage(busybox string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	var names bytes.Buffer
	if _, err := proc.Run(ctx, proc.Command{Path: busybox, Args: []string{"--list"}, Files: nil, Stdout: &names}); err != nil {
		return err
	}
	program, err := os.ReadFile(busybox)
	if err != nil {
		return err
	}
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	add := func(h tar.Header, content []byte) {
		h.Size = int64(len(content))
		if err == nil {
			err = w.WriteHeader(&h)
		}
		if err == nil {
			_, err = w.Write(content)
		}
	}
	for dir, mode := range map[string]int64{"bin/": 0o755, "etc/": 0o755, "root/": 0o700, "tmp/": 0o1777} {
		add(tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: mode}, nil)
	}
	add(tar.Header{Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755}, program)
	add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, []byte("root:x:0:0:root:/root:/bin/sh\n"))
	for name := range strings.FieldsSeq(names.String()) {
		if name != "busybox" { // it lists itself
			add(tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return fmt.Errorf("make the image: %w", err)
	}
	_, err = e.run(ctx, &tree, "import", "-", Image)
	return err
}
