package shell

import (
	"path"
	"slices"
	"strings"
)

// shadows judges a file that would run in place of a well-known program, because
// its folder is searched before those of the system.
func (j *judge) shadows(p string) {
	folder, name := path.Split(p)
	folder = strings.TrimSuffix(folder, "/")
	if path.Base(folder) == "bin" && j.trustedFolder(folder) && slices.Contains(everydayPrograms, name) {
		j.ask("shadow-program", "puts a file where it runs in place of "+name)
	}
}

// everydayPrograms are programs that every system has and that users and scripts
// run all the time.
var everydayPrograms = strings.Fields(`ls cat cp mv rm mkdir rmdir ln chmod chown touch head tail less more grep egrep sed awk sort uniq cut tr wc find xargs tee
	echo printf env test true false date sleep kill ps top df du mount umount tar gzip zip unzip sudo su doas passwd login id whoami uname hostname
	sh bash zsh dash fish ssh scp sftp rsync curl wget git make cc gcc ld as vi vim nano man which file stat diff patch crontab systemctl apt apt-get dnf yum pacman`)
