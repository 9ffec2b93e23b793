package modal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"hermes/internal/atomicfile"
)

// mostStored bounds how many stored images are remembered.
const mostStored = 500

// stored returns the id of the image that the last sandbox was stored as, "" if none.
func (s *service) stored() (string, error) {
	images, err := s.readImages()
	return images[s.config.Name()], err
}

func (s *service) readImages() (map[string]string, error) {
	images := map[string]string{}
	data, err := os.ReadFile(s.config.SnapshotFile)
	if errors.Is(err, fs.ErrNotExist) {
		return images, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &images); err != nil {
		return nil, fmt.Errorf("read %s: %w; remove the file to begin with new sandboxes", s.config.SnapshotFile, err)
	}
	return images, nil
}

// store makes an image of the files of a sandbox and remembers it.
func (s *service) store(ctx context.Context, id string) error {
	box, _, err := s.Wake(ctx, id)
	if err != nil {
		return err
	}
	c := s.command(box)
	answer, err := c.call(ctx, "TaskSnapshotFilesystem", c.fields()) // field 2 is the id of this request
	if err != nil {
		return err
	}
	return s.remember(answer.text(1))
}

// remember notes what the sandbox is stored as; "" forgets it. The file is shared with other
// programs of this home.
func (s *service) remember(image string) error {
	lock, err := atomicfile.Acquire(context.Background(), s.config.SnapshotFile, "the list of stored sandboxes", 10*time.Second)
	if err != nil {
		return err
	}
	defer lock.Release()
	images, err := s.readImages()
	if err != nil {
		return err
	}
	name := s.config.Name()
	delete(images, name)
	for old := range images { // any: they have no age
		if len(images) < mostStored {
			break
		}
		delete(images, old)
	}
	if image != "" {
		images[name] = image
	}
	data, err := json.MarshalIndent(images, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(s.config.SnapshotFile, append(data, '\n'), atomicfile.Options{})
}
