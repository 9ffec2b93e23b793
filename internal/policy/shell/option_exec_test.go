package shell_test

import "testing"

func TestOptionsThatRunProgramsAreAskedAbout(t *testing.T) {
	t.Parallel()
	for _, d := range []danger{
		{"option-exec",
			[]string{
				"tar cf x y --checkpoint=1 --checkpoint-action=exec=id", "tar xf x --to-command id", "tar -I ./x -xf y", "tar xf x --use-compress=./y", "sort --compress-program ./x y", "split --filter=./x y", "rg --pre ./x y", "man -P ./x ls", "man -Pid ls", "fzf --preview './x {}'", "zip x y -T -TT ./z",
				"make --eval='x'", "make -f - <<< x", "make -f /dev/stdin", "make -f <(echo x)", "make -f /tmp/x", "gcc -wrapper x y.c", "clang -fplugin=./x y.c", "go test -exec ./x", "go build -toolexec=./x", "go vet -vettool ./x", "cargo --config build.rustc-wrapper=x build", "cargo --config x/y.toml build", "npm --script-shell=./x test", "npx --node-options='-r ./x' y",
				"java -javaagent:x.jar -jar y", "java -XX:OnError=x -jar y", "node -r /tmp/x y.js", "node --import 'data:text/javascript,x' y.js", "node --require=/tmp/x y.js", "ruby -r/tmp/x y.rb", "ruby -I /tmp y.rb", "perl -I/tmp y.pl", "perl -d:X y.pl", "php -d auto_prepend_file=x y.php",
				"vim -c ':!id' x", "vim +'!id' x", "vim --cmd 'lua x' y", "nvim -S x.vim", "vim -c 'call system(\"id\")'", "ed <<< '!id'", "ed x <<X\n1p\n!id\nX", "ex -c '!id' x", "less '+!id' x", "gdb -ex 'shell id' x", "gdb -batch -ex '!id'", "gdb -ex 'python x' y", "lldb -o 'script x' y", "ftp <<< '!id'", "emacs --eval x", "emacs -l /tmp/x.el", "mutt -e '!id'",
				"sed 1e x", "sed 's/a/b/e' x", "sed 's,a,b,ge' x", "sed -e 'p;e id' x", "sed '/x/{e id\n}' y", "sed 's/[/]/id/e' x", "sed '$!s/a/b/3e' x", "strace -o '|id' ls", "tcpdump -z ./x -w y", "rsync -e ./x a b", "rsync --rsh='sh -c id' a b", "rsync --rsync-path='id;rsync' a h:b", "scp -S ./x a h:b", "scp -o ProxyCommand=id a h:b", "sftp -oProxyCommand=id h",
				"ssh-keygen -D x.so", "ssh-add -s x.so", "wget --use-askpass=./x h", "curl -K x h", "curl --engine x h", "openssl req -engine x", "nmap --script ./x h", "pdflatex --shell-escape x", "mysql --pager='id'", "apt-get -o APT::Update::Pre-Invoke::=id update", "aria2c --on-download-complete=./x h", "rpm --eval '%(id)'",
			},
			[]string{
				"tar xzf x.tgz", "tar -I zstd -xf x", "tar --use-compress-program='zstd -T0' -cf x y", "tar cf x y --checkpoint=1000", "tar --checkpoint-action=dot -cf x y", "sort -u x", "split -l 100 x", "rg -n x", "man ls", "man -P cat ls", "zip -r x y", "make -j4", "make -f build.mk", "make -C sub all", "gcc -O2 -Wall x.c -o x", "gcc -specs=nano.specs x.c", "go test -run X ./...", "go build -o x .", "cargo build --config net.offline=true",
				"npm test", "java -Xmx1g -jar x", "java -agentlib:jdwp=transport=dt_socket,server=y,address=5005 -jar x", "node -r dotenv/config x.js", "node -r ./setup.js x.js", "node --import tsx x.ts", "node --loader ts-node/esm x.ts", "ruby -rjson x.rb", "ruby -Ilib x.rb", "perl -Ilib x.pl", "perl -w x.pl", "php -d memory_limit=-1 x.php", "rspec -r ./spec/helper.rb",
				"vim +10 x", "vim -c 'set number' x", "nvim --version", "nvim --headless +PlugInstall +qall", "less +F x", "less -R x", "gdb --args ./x", "lldb -o bt ./x", "emacs --batch -l ert -l test/x.el -f ert-run-tests-batch-and-exit", "ed -s x <<< '1p'",
				"sed 's/a/b/g' x", "sed -n 5p x", "sed -e 's/e/f/' -e '/x/d' y", "sed 's|http://e|x|' y", "sed '/e/p' x", "sed 's/[/e]/x/g' y", "sed '/start/,/end/d' x", "sed -i '0,/parking_lot/{/parking_lot/d;}' x", "sed '1i hello' x", "sed 's/\\/e/x/' y", "sed ':a;N;$!ba;s/\\n/ /g' x", "sed 'y/e/f/' x", "sed -f x.sed y", "sed '$a e' x",
				"strace -o log ls", "rsync -a -e ssh x h:y", "rsync -e 'ssh -p 22 -i ~/.ssh/k' x h:y", "rsync --rsync-path='sudo rsync' x h:y", "scp -o StrictHostKeyChecking=no a h:b", "ssh-keygen -t ed25519 -f k", "ssh-add -l", "curl -k https://h", "nmap --script vuln h", "nmap -sV h", "pdflatex x.tex", "apt-get -o Dpkg::Options::=--force-confold install x", "rpm -qa", "rpm --eval %dist", "openssl version",
			}},
		{"shadow-program", []string{"cp x ~/.local/bin/git", "install x /usr/local/bin/ls", "ln -s x ~/bin/ssh", "curl -o ~/.local/bin/sudo h", "cp a/ls ~/.local/bin/"}, []string{"cp x ~/.local/bin/mytool", "install -m 755 x /usr/local/bin/hermes", "cp x bin/git", "cp x ./ls"}},
		{"write-system", []string{"tar xf x -C /", "tar xf x -C ~", "unzip x -d ~", "7z x a -o/usr", "tar --directory=/etc -xf x", "split -b1 x /etc/y"}, []string{"tar xf x -C build", "tar xf x -C /usr/local", "unzip x -d out", "tar cf x -C src .", "split -b 1 x y"}},
		{"dbus-call", []string{"busctl call a b c d", "dbus-send --dest=a b c", "gdbus call -y -d a b"}, []string{"busctl list", "busctl status x y"}},
	} {
		d.check(t)
	}
}
