package mount

// Root says what the new root holds. Paths are absolute and cleaned, with their
// links followed. A path that does not exist is skipped.
type Root struct {
	// Read are files and folders that can be read, with all that is below them.
	// "/" means every folder at the top that is not made new here.
	Read []string
	// Write are files and folders that can be changed as well.
	Write []string
	// Protected are files and folders below Write that cannot be changed, moved or
	// removed, and nor can any folder between them and the one in Write.
	Protected []string
	// Hidden are files and folders below Read or Write that appear as empty.
	Hidden []string
	// Temp is mounted at /tmp and /var/tmp; empty is an empty file system in memory.
	// Build may create empty folders in it.
	Temp string
	// PrivateHome is mounted at Home; empty mounts nothing there. Build may create
	// empty folders in it, and removes links in it that are in the way of a mount.
	Home, PrivateHome string
	// Links are symbolic links of the host that appear as well, where the folder that
	// they are in is one of Build's. They grant nothing.
	Links []string
	// Devices are files and folders below /dev, beside the harmless ones.
	Devices []string
	// Hostname is the new host name; empty keeps the host's.
	Hostname string
}

// Report says what Build did otherwise than asked, although it succeeded.
type Report struct {
	// Missing are the Protected paths that do not exist. The caller checks after
	// each command whether one appeared.
	Missing []string
	// Unprotected are Protected and Hidden paths that could not be mounted over.
	Unprotected []Problem
	// Skipped are Read, Write and Devices paths that exist but are not there inside.
	Skipped []Problem
}

// Problem is a path, and why it is not as asked.
type Problem struct {
	Path, Why string
}
