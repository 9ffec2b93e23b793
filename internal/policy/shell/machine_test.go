package shell_test

import "testing"

func TestWhatChangesTheMachineIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, d := range []danger{
		{"machine-settings",
			[]string{"ip link set eth0 down", "ip route del default", "ip addr add 1.2.3.4/24 dev eth0", "ifconfig eth0 down", "route add default gw x", "nmcli con up x", "resolvectl dns eth0 1.1.1.1", "hostnamectl set-hostname x", "timedatectl set-timezone UTC", "date -s now", "hwclock -w", "netplan apply", "networksetup -setdnsservers x y", "hostname x", "systemctl set-property x a=b"},
			[]string{"ip addr", "ip route show", "ip -br link", "ifconfig", "ifconfig eth0", "route -n", "nmcli dev status", "resolvectl status", "hostnamectl", "timedatectl status", "date +%s", "date -d yesterday", "hostname", "hostname -I", "hwclock --show", "arp -a", "networksetup -listallhardwareports"}},
		{"log-delete", []string{"journalctl --vacuum-size=1", "journalctl --rotate", "logrotate -f x", "dmesg -C"}, []string{"journalctl -u x", "journalctl -f", "dmesg", "last"}},
		{"write-log", []string{"rm /var/log/x", "echo > /var/log/syslog"}, []string{"cat /var/log/syslog", "tail -f /var/log/x", "grep x /var/log/y"}},
		{"write-history", []string{"rm ~/.bash_history", "ln -sf /dev/null ~/.bash_history", "echo x > ~/.zsh_history"}, []string{"cat ~/.bash_history", "tail ~/.zsh_history"}},
		{"fill-disk", []string{"yes > x", "cat /dev/urandom > x", "cp /dev/zero x", "dd if=/dev/zero of=x bs=1M", "fallocate -l 10T x", "truncate -s 5000G x"}, []string{"head -c 10 /dev/urandom > x", "yes | head -5 > x", "cat /dev/zero > /dev/null", "fallocate -l 1G x", "truncate -s 100M x"}},
		{"types-for-user",
			[]string{"tmux send-keys -t 0 y Enter", "tmux send -t 0 2 Enter", "tmux send-k Enter", "tmux -L x send-keys Enter", "tmux list-panes ';' send-keys y Enter", "tmux set-buffer y ';' paste-buffer -t 0", "screen -S x -X stuff y", "kitty @ send-text y", "wezterm cli send-text y", "zellij action write-chars y", "xdotool key Return", "ydotool type y", "wtype y"},
			[]string{"tmux ls", "tmux attach -t x", "tmux capture-pane -p", "screen -ls", "xdotool getactivewindow"}},
		{"other-process", []string{"gdb -p 12", "gdb --pid=12", "gdb ./x -p 12 -batch", "lldb -p 12", "reptyr 12", "dlv attach 12"}, []string{"gdb ./x core", "gdb --args ./x -v", "dlv test", "lldb ./x"}},
		{"runs-later", []string{"ssh localhost hermes attach", "ssh me@127.0.0.1 id", "ssh -p 22 ::1 id", "ssh localhost"}, []string{"ssh h id", "ssh -p 22 me@h", "ssh -N -L 80:localhost:80 h"}},
		{"endless-processes", []string{"while :; do sh & done", "while true; do ./x & done", "until false; do x & done"}, []string{"while true; do ./x & sleep 1; done", "while true; do ./x; sleep 5; done", "while read x; do ./y $x & done < z", "for i in 1 2 3; do ./x & done; wait"}},
		{"package-source",
			[]string{"add-apt-repository ppa:x/y", "apt-key add x", "rpm --import x", "dnf config-manager --add-repo x", "flatpak remote-add x y", "brew tap a/b https://c", "snap install --dangerous x", "pip install -i http://h/s x", "npm i --registry=http://h x", "npm i http://h/x.tgz", "dpkg -i http://h/x.deb", "apt-get --allow-unauthenticated install x"},
			[]string{"apt-get install -y x", "pip install -i https://pypi.org/simple x", "pip install x", "npm i --registry http://localhost:4873 x", "brew tap a/b", "snap install x", "flatpak install x", "dnf install x", "gem install x", "rpm -qa", "curl http://h/x"}},
		{"agent-forwarding", []string{"ssh -A h", "ssh -vA h ls", "ssh -o ForwardAgent=yes h"}, []string{"ssh -o ForwardAgent=no h ls", "ssh -p 22 h ls -A"}},
		{"database-rights", []string{`psql -c "GRANT ALL ON x TO y"`, `mysql -e "create user x"`}, []string{`psql -c "select 'grant'"`}},
		{"destructive-sql", []string{`psql -c "update users set a = 1"`, `psql -c "alter table x drop column y"`, `psql -c "drop trigger x on y"`}, []string{`psql -c "update users set a = 1 where id = 2"`, `psql -c "alter table x add column y int"`, "apt-get update && echo set"}},
		{"inline-code", []string{"python manage.py shell -c 'x'", "php artisan tinker --execute=x", "rails runner 'User.count'"}, []string{"python manage.py shell", "php artisan tinker", "rails runner script.rb"}},
		{"secret-commit", []string{"git add .env", "git add -f ~/work/key.pem", "cp ~/.ssh/id_rsa x; git add x", "cat .env > x; git add -A", "cat .env > x && git commit -am y"}, nil},
		{"secret-upload", []string{"./send \"$(cat .env)\""}, []string{"git add .", "git add -A && git commit -m x", "git add .env.example", "git commit -am .env", "export X=\"$(cat .env)\"", "echo \"$(cat .env)\"", "X=$(cat .env) ./run"}},
		{"environment", []string{"export -f ls", "git() { x; }; export -f git"}, []string{"export -f myfunc", "f() { ls; }; export -f f"}},
	} {
		d.check(t)
	}
}
