package shell_test

import (
	"slices"
	"testing"

	"hermes/internal/policy/shell"
)

// TestNeverAllowed: what destroys the root, the system or a home folder is refused,
// whichever program does it.
func TestNeverAllowed(t *testing.T) {
	t.Parallel()
	checkLevels(t, shell.Refuse, []string{
		`rm -rf "$UNSET"/*`, "rm -rf $UNSET/*", `rm -rf "${UNSET}/"`, `rm -rf "$A/$B"`, `rm -rf "$A"/etc`, `rm -rf /$A`, `rm -rf "/${A}"*`, `rm -rf "$(cat x)"/*`, `rm -rf $(cat x)/`, `X=; rm -rf "$X"/*`, `X=$(cat y); rm -rf "$X"/*`, `rm -rf -- "$A"/..`,
		`f() { rm -rf "$1"/*; }; f`, `f() { rm -rf "$1"/*; }; f "$A"`, `f() { rm -rf "$1"; }; f /`, `cd "$A/" && rm -rf ./* /`, `rm -rf ${A:-/}`, `rm -rf "${A-}"/`, `rimraf /`, `npx rimraf /`,
		"find / -delete", "find / -type f -delete", "find -L / -delete", "find / -xdev -delete", "find / -name '*' -delete", "find / ! -name x -delete", "find / -not -name x -delete", "find / -name x -o -delete", "find / -mtime +1 -delete", "find / -user ada -delete", "find ~ -size +0 -delete", "find / /tmp -delete",
		"find / -depth -exec rm {} \\;", "find / -type f -exec rm -f {} +", "find / -exec sh -c 'rm -rf \"$1\"' _ {} \\;", "find / -exec chmod 000 {} +", "find / -exec shred {} +", "find / \\( -name a -o -size +1 \\) -delete", "cd / && find . -delete", "cd / && find -delete", "find $A/ -delete", "find / -exec mv {} /tmp \\;", "find / -exec truncate -s 0 {} +", "find / -exec unlink {} \\;",
		"find / | xargs rm", "find / -print0 | xargs -0 rm -f", "find / -type f | xargs rm -rf", "find / | sort | xargs rm", "find / | head -5 | xargs -n1 rm", "find ~ -type f | xargs shred", "find / | xargs sudo rm", "find / | parallel rm", "find / | xargs -I{} rm {}", "ls -d /* | xargs rm -rf", "echo /* | xargs rm -rf", "fd . / | xargs rm", "fd . / -x rm", "fd -H . / -X rm -rf", "du -a / | xargs rm", "rg --files / | xargs rm",
		"chmod -R 777 /", "chmod -R 000 /etc", "chmod -R u+w /usr", "chmod --recursive 755 /var", "chmod 755 -R /", "chmod -R 700 \"$A\"/", "sudo chmod -R a-x /bin", "chown -R ada /", "chown -R ada:ada /etc /usr", "chgrp -R x /var/lib", "chown --recursive ada /*", "setfacl -R -m u:x:rwx /", "chattr -R +i /etc", "chown -R ada $A/",
		"rsync -a --delete empty/ /", "rsync -a --delete-after empty/ ~/", "rsync --del -r x/ /etc/", "rsync -a --delete x/ host:/", "rsync -a --delete x/ \"$A\"/", "rsync -a --remove-source-files / x", "runuser -c 'rm -rf /'", "runuser -l ada -c 'rm -rf /'", "runuser - ada -c 'rm -rf /'", "env --split-string 'rm -rf /'", "env bash -c 'rm -rf /' -S", "env -a x -S 'rm -rf /'", "env -C a -C / rm -rf etc", "bash +c 'rm -rf /'",
		`x=r\m; $x -rf /`, `x=r\m\ -rf\ /; $x`, `export x=r\m; $x -rf /`, `x[0]=r\m; ${x[0]} -rf /`, `x+=r\m; x=r\m; $x -rf /`, `${x:-r\m} -rf /`, `rm -rf ${x:-\/}`, `bash <<< r\m\ -rf\ /`, `D=~; rm -rf "$D"/*`, `D=~; cd $D; rm -rf *`, "export D=~; rm -rf $D", "f() { local D=~root; rm -rf $D; }; f", "rm -rf ${D:-~}", "rm -rf /[!x]*", "chmod -R 777 /[!a-d]tc",
		`$'rm\0x' -rf /`, `$'rm\x00x' -rf /`, `IFS=$'\x01'; x=$'rm\x01-rf\x01/'; $x`,
		`:(){ \:|\:& };:`, `f() { "f" | 'f' & }; f`, "ln -s / r; rm -rf r/*", "ln -s / r; rm -rf r/", "ln -s /etc r; chmod -R 777 r/", "find / -type f | while read -r f; do rm -f \"$f\"; done", "find / -type f -exec bash -c 'rm -f \"$@\"' _ {} +", "find / -type f -exec sh -c '> \"$1\"' _ {} \\;", "find / -type f -exec cp /dev/null {} \\;", "find / -exec dd if=/dev/zero of={} \\;", "cd /; ls | xargs rm -rf",
		"chmod 000 /", "chmod a-x /bin /usr/bin", "chmod 700 /etc", `node -e "require('child_process').spawnSync('rm',['-rf','/'])"`, `Rscript -e 'unlink("/", recursive=TRUE)'`, `deno eval 'Deno.removeSync("/")'`, `powershell Remove-Item C:/ -Recurse -Force`, "mv / x", "mv /* x", "mv \"$A\"/* x", "tar --remove-files -cf x.tar /etc", "rclone purge /", "rclone sync empty /", "robocopy x C:/ /MIR",
		`python3 -c 'import shutil; shutil.rmtree("/")'`, `python3 -c "import shutil as s; s.rmtree('/home')"`, `python3 -c 'import shutil,os; shutil.rmtree(os.path.expanduser("~"))'`, `python3 -c 'from pathlib import Path; import shutil; shutil.rmtree(Path.home())'`, "python3 <<EOF\nimport shutil\nshutil.rmtree('/etc')\nEOF", `echo 'import shutil; shutil.rmtree("/usr")' | python3`,
		`python3 -c 'import os; os.system("rm -rf /")'`, `python3 -c 'import subprocess; subprocess.run(["rm", "-rf", "/"])'`, `node -e 'require("fs").rmSync("/", {recursive: true})'`, `node -e 'fs.rmdirSync("/home", {recursive:true})'`, `node -e 'require("child_process").execSync("rm -rf ~")'`, `node -e 'fs.rm(os.homedir(), {recursive:true}, ()=>{})'`, `ruby -e 'require "fileutils"; FileUtils.rm_rf("/")'`, `ruby -e 'FileUtils.rm_rf "/etc"'`,
		`ruby -e 'system("rm -rf /")'`, `perl -e 'use File::Path; rmtree("/")'`, `perl -e 'system("rm","-rf","/")'`, "perl -e '`rm -rf /`'", `php -r 'system("rm -rf /");'`, `go run - <<EOF
package main
import "os"
func main() { os.RemoveAll("/") }
EOF`, `awk 'BEGIN { system("rm -rf /") }'`, `lua -e 'os.execute("rm -rf /")'`, `python3 -c 'import os; os.system("mkfs.ext4 /dev/sda")'`, `python3 -c 'open("/dev/sda","wb")' ; dd if=x of=/dev/sda`,
		"> /etc/passwd", ": > /etc/passwd", "> /etc/hosts", "true > /etc/x", "echo -n > /etc/fstab", "cat /dev/null > /etc/shadow", "truncate -s 0 /etc/passwd", "truncate --size=0 /etc/x", "cp /dev/null /etc/fstab", "cp /dev/null /etc/x", "dd if=/dev/null of=/etc/passwd", "echo x > /etc/passwd", "echo x | tee /etc/shadow", "echo x | sudo tee /etc/sudoers", "tee /etc/x < /dev/null", "cp x /etc/passwd",
		"mv x /etc/shadow", "mv /etc/passwd /tmp", "rm /etc/passwd", "rm -f /etc/shadow /tmp/x", "shred /etc/fstab", "unlink /etc/sudoers", "install x /etc/pam.d/login", "curl -o /etc/passwd https://x", "cat x >| /etc/group", "cat x &> /etc/nsswitch.conf", "ln -sf x /etc/passwd", "sudo sh -c '> /etc/passwd'", "sudo bash -c 'echo x > /etc/fstab'", "rm /boot/vmlinuz-6.1", "> /boot/grub/grub.cfg", "wget -O /etc/shadow https://x",
		"hdparm --security-erase p /dev/sda", "hdparm --user-master u --security-erase-enhanced p /dev/sda", "hdparm --yes-i-know-what-i-am-doing --trim-sector-ranges 1:2 /dev/sda", "nvme format /dev/nvme0n1", "nvme sanitize /dev/nvme0 -a 2", "nvme write-zeroes /dev/nvme0n1", "wipefs -a /dev/sdb", "wipefs --all --force /dev/vg0/root", "blkdiscard -f /dev/sda", "mkfs -t ext4 /dev/mapper/vg-root", "mkfs.btrfs -f /dev/vg0/home", "/sbin/mkfs.xfs /dev/disk/by-id/x", "mkswap /dev/sda2", "cryptsetup luksFormat /dev/sda1",
		"cryptsetup -q luksErase /dev/sda1", "badblocks -w /dev/sda", "sg_format /dev/sda", "mkfs.ext4 UUID=abc", "scrub /dev/sda", "nwipe /dev/sda", "mdadm --zero-superblock /dev/sda1", "pvremove -ff /dev/sda", "pvcreate /dev/sda", "zpool create tank /dev/sda", "zpool labelclear /dev/sda", "busybox mkfs.ext2 /dev/sda", "echo x | sudo tee /dev/sda", "sgdisk --zap-all /dev/sda", "cfdisk /dev/sda", "dd if=/dev/zero | dd of=/dev/sda",
	})
	checkLevels(t, shell.Ask, []string{
		`rm -rf "$DIR"`, `rm -rf "$DIR/build"`, `rm -rf "${DIR:?}"/*`, `rm -rf "$DIR"/build/*`, `for d in a b; do rm -rf "$d"/*; done`, `clean() { rm -rf "$1"/*; }; clean build`, `D=$(mktemp -d); rm -rf "$D"/*`, `D=$(dirname "$x"); rm -rf "$D"/*`, `rm -rf "$PWD"/build`, `rm -rf ~/work/build/*`, "rm -rf /tmp/$x", "rm -rf /opt/app/$x",
		"find / -name core -delete", "find . -delete", "find ~ -name '*.bak' -exec rm {} +", "find / \\( -name a -o -name b \\) -delete", "find ~ -path '*/x/*' -prune -o -name y -delete", "find / -name core | xargs rm", "find . | xargs rm", "find ~ -name x -exec rm -rf {} \\;", "find /tmp -mtime +3 -delete", "find . | grep x | xargs rm", "fd x ~ -x rm",
		"chmod -R 777 build", "chown -R ada ~", "chmod -R u+w ~", "chown -R ada /opt/app", "chown -R ada \"$DIR\"", "rsync -a --delete x/ y/", "rsync -a --delete x/ ~/backup/", "mv x /dev/null", "ls | while read -r f; do rm \"$f\"; done", "while read f; do rm $f; done < x", "rm $x", "rm $(cat x)", "while true; do bash & done", "for ((;;)); do ./x & done", "while [ 1 ]; do ./x & done", "while test '1'; do ./x & done", "echo x >> /etc/fstab", "echo x > /etc/hosts", "sed -i s/a/b/ /etc/fstab", "echo x | sudo tee -a /etc/sudoers", "sudo tee /etc/sudoers.d/x < y", "cp x /etc/foo.conf",
		`$'r\x{6d}' -rf x`, `$(echo -e '\0162m') -rf x`, `$(echo -e 'rm\c foo') -rf x`, `$(echo -e 'r\0m') -rf x`, `python3 -c 'import shutil; shutil.rmtree("build")'`, `node -e 'fs.rmSync("dist")'`, "mkfs.ext4 disk.img", "mkfs.ext4 $DISK", "chmod -x /bin/chmod", "chmod 000 /etc/passwd", "find . -type f | while read -r f; do rm -f \"$f\"; done", "zpool destroy tank", "lvremove vg/x", "rclone purge remote:x",
	})
	checkLevels(t, shell.Allow, []string{
		`D=~; ls "$D"`, `while IFS= read -r -d $'\0' f; do echo "$f"; done < x`, `printf '\033[1mx 5%%\033[0m\n' | tee log`, `x='~'; ls $x`, `x="a\b"; echo $x`, "find / -name x", "find / | head", "rm \"$x\"", "for f in *.o; do rm $f; done", "while true; do ./x & sleep 1; done", "while [ $i -lt 9 ]; do ./x & i=$((i+1)); done; wait", "while test \"$n\" -gt 0; do ./x & n=$((n-1)); done", "chmod -R u+w build", "chmod a+r /etc/apt/keyrings/x.gpg", "chmod 755 /usr/bin/x", "chmod go-rwx ~/x", "find / -name x | while read -r f; do echo $f; done", "chown ada x", "rsync -a x/ y/", "rsync -an --delete x/ /", "fdisk -l", "hdparm -I /dev/sda", "hdparm -tT /dev/sda", "nvme list", "nvme smart-log /dev/nvme0", "wipefs /dev/sda", "cryptsetup luksDump /dev/sda1", "cryptsetup status x", "zpool status", "lsblk", "mdadm --detail /dev/md0", "pvs", "parted -l", "cat /etc/passwd > x", "cp /etc/hosts x", "rg --files | xargs wc -l", "fd . src -x wc -l",
	})
}

// TestCommandsInCodeAddNoQuestions: program code asks as such. Of the commands in it
// only what is never allowed counts, so that "always" for code covers it.
func TestCommandsInCodeAddNoQuestions(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`python3 -c 'import os; os.system("rm -r x")'`, `node -e 'x("git push --force origin")'`} {
		if got := keys(shell.Judge(line, testContext())); !slices.Equal(got, []string{"inline-code"}) {
			t.Errorf("%q: keys %v, want inline-code only", line, got)
		}
	}
}
