package shell_test

import "testing"

func TestLosingFilesIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, d := range []danger{
		{"empties-files",
			[]string{
				"find . -exec truncate -s 0 {} +", "for f in $(git ls-files); do : > \"$f\"; done", "git ls-files | xargs cp /dev/null", "ls | while read f; do cat /dev/null > \"$f\"; done", "> $F",
				"truncate -s 0 notes.md", "tee src/*.go < /dev/null", "truncate --size=0 notes.md", "cp /dev/null notes.md", "sort -o notes.md /dev/null", "sort --output=notes.md -- /dev/null", "uniq /dev/null notes.md", "base64 /dev/null -o a.go",
				"sed -i d a.go", "sed -i '1,$d' a.go", "sed -i -e 's/.*//' $(grep -rl . src)", "sed -i 's|^.*$||g' a.go", "sed -i '/.*/d' a.go", "ex -sc '%d|x' a.go", "vim -es +%d +x a.go", "printf ',d\\nwq\\n' | ed a.go", "ed a.go <<< ',d'", "nvim -c '%s/.*//' -c wq a.go",
			},
			[]string{
				": > notes.md", "truncate -s 0 app.log", "truncate -s 10M disk.img", "cp /dev/null log/test.out", "f=$(mktemp); : > $f", "echo a > x; truncate -s 0 x", "gcc -E -o x.i /dev/null", "curl -o /dev/null localhost", "diff /dev/null a.go",
				"sed -i 's/foo/bar/g' $(grep -rl foo src)", "sed -i '/foo/d' a.go", "sed -i '1d' a.go", "sed -i 's/ .*//' a.go", "sed d a.go", "vim -es -c '%s/foo/bar/g' -c x a.go", "vim +42 a.go", "ex -sc '3d|x' a.go",
			}},
		{"delete-outside",
			[]string{"rm ~/Documents/thesis.tex", "rm -f /srv/x", "unlink ~/x", "for f in ~/Documents/*; do unlink \"$f\"; done", "rm ~/Documents/\"$x\"", "mv ~/Pictures /dev/shm/.x", "mv ~/a ~/b", "ln -sf /dev/null ~/.bash_history", ": > ~/notes.md", "cd ~/other && rm a.txt", "mv -t /tmp ~/a ~/b"},
			[]string{"rm a.txt", "rm -f /tmp/x ./y", "mv a.txt b.txt", "mv ~/Downloads/a.zip .", "mv a.txt /tmp", "cd sub && rm ../a.txt", "rm \"$f\"", "curl -s localhost > ~/x.zip && rm ~/x.zip", ": > /dev/null"}},
		{"backup-delete",
			[]string{"restic forget --prune --keep-last 0", "restic -r /b prune", "borg delete repo", "borg prune --keep-daily=0 repo", "kopia snapshot delete x", "duplicity remove-all-but-n-full 1 file:///b", "rdiff-backup --remove-older-than 1s /b"},
			[]string{"restic snapshots", "borg list repo", "borg create repo::x .", "restic forget --dry-run --keep-last 1"}},
		{"git-branch-move",
			[]string{"git branch -f main HEAD~50", "git branch --force main origin/old"},
			[]string{"git branch -M main", "git branch x", "git branch -a"}},
		{"log-delete",
			[]string{"history -c && unset HISTFILE", "history -c", "unset HISTFILE", "export HISTFILE=/dev/null", "HISTFILE= bash", "set +o history", "HISTSIZE=0"},
			[]string{"history", "history 20", "set -o pipefail", "HISTSIZE=10000 bash -c ls", "export HISTFILE=~/.zsh_history"}},
		{"protection",
			[]string{"xattr -dr com.apple.quarantine ~/Downloads/x.app", "xattr -c x.app", "security add-trusted-cert x.pem", "security delete-keychain x", "sudo fdesetup disable", "tccutil reset All", "mokutil --disable-validation", "trust anchor x.pem"},
			[]string{"xattr -l x", "security find-certificate -a", "fdesetup status", "mokutil --sb-state"}},
		{"records",
			[]string{"sudo tcpdump -i any -w /tmp/x.pcap", "tcpdump -wr.pcap", "tcpdump -i D", "tshark -w-h", "tshark -i eth0", "screencapture -x s.png", "arecord -d 60 a.wav", "ffmpeg -f avfoundation -i 0 x.mp4", "ffmpeg -f x11grab -i :0 x.mp4", "scrot s.png", "grim s.png", "xinput test-xi2"},
			[]string{"ffmpeg -i a.mp4 b.mp4", "tcpdump -r x.pcap", "tcpdump -ner x.pcap", "tcpdump -D", "xinput list", "tshark -r x.pcap"}},
		{"delete-sources",
			[]string{"tar -czf /tmp/o.tgz --remove-files src", "zip -rm a.zip src", "rsync -a --remove-source-files src/ /tmp/x", "7z a -sdel a.7z src", "rar m a.rar src"},
			[]string{"tar -czf o.tgz src", "zip -r a.zip src", "7z a a.7z src"}},
		{"mirror-delete",
			[]string{"rsync -a --delete /tmp/x/ ./", "rsync -a --delete-after \"$(mktemp -d)/\" ."},
			[]string{"rsync -an --delete a/ b/", "rsync -a a/ b/"}},
		{"recursive-delete",
			[]string{"cmake -E rm -rf src", "cmake -E remove_directory src", "cmake -E env A=1 rm -rf src", "cmake -E chdir sub rm -rf src", "shx rm -rf src", "npx shx rm -rf src"},
			[]string{"cmake -E make_directory x", "cmake -E copy a b", "cmake -E echo rm"}},
	} {
		d.check(t)
	}
}
