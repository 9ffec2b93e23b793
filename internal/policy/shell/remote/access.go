package remote

import (
	"strings"
	"sync"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/program"
	"hermes/internal/policy/shell/track"
)

// Netcat allows testing a port and connecting to this machine.
func Netcat(l *track.Line, rest []string) {
	if getopt.HasShort(rest, "ec") || getopt.HasLong(rest, "--exec") || getopt.HasLong(rest, "--sh-exec") || getopt.HasLong(rest, "--lua-exec") {
		l.Ask("remote-shell", "gives another machine a shell on this one")
	}
	const netcatValues = "pwsiqXxIOTVmMGgo"
	words := getopt.Wrapper{Values: netcatValues, Long: " --source-port --wait --delay --idle-timeout --proxy --proxy-type "}.Rest(rest)
	switch {
	case getopt.CertainShort(rest, "zhU", netcatValues) || getopt.AsksHelp(rest):
	case getopt.HasShort(rest, "l") || getopt.HasLong(rest, "--listen"), len(words) > 0 && !program.ThisMachine(words[0]):
		l.Ask("raw-connection", "opens a connection through which anything may be sent or received")
	}
}

// Socat connects two addresses, of which one may be a program.
func Socat(l *track.Line, rest []string) {
	for _, a := range getopt.PlainWords(rest) {
		kind, target, _ := strings.Cut(strings.ToLower(a), ":")
		listens := strings.Contains(kind, "listen") || strings.HasSuffix(kind, "-l") || strings.Contains(kind, "recv")
		switch {
		case kind == "exec" || kind == "system" || kind == "shell":
			l.Ask("remote-shell", "gives another machine a shell on this one")
		case strings.HasPrefix(kind, "unix") || strings.HasPrefix(kind, "abstract"):
		case listens, strings.Contains(a, ":") && !program.ThisMachine(target) && !strings.HasPrefix(kind, "file") && !strings.HasPrefix(kind, "open") && !strings.HasPrefix(kind, "pty"):
			l.Ask("raw-connection", "opens a connection through which anything may be sent or received")
		}
	}
}

// OpensAccess reports whether a program lets others in: tunnels, remote desktops,
// servers for logins, shared terminals.
func OpensAccess(name string, rest []string) bool { return openers().Has(name, rest) }

var openers = sync.OnceValue(func() getopt.Table {
	return getopt.NewTable(`
		ngrok chisel frpc frps bore lt localtunnel ttyd gotty wetty tmate upterm sshx rathole inlets pagekite zrok: !0=version,help&!help
		x11vnc vncserver x0vncserver tigervncserver tightvncserver sshd dropbear telnetd in.telnetd utelnetd inetd xinetd proot-sshd: !0=version,help&!help
		msfconsole msfvenom evil-winrm dnscat dnscat2 iodine ptunnel revsocks openvpn wg-quick websocat gsocket gs-netcat pwncat pwncat-cs pwncat-vl: !0=version,help&!help
		cloudflared: 0=tunnel,access
		tailscale: 0=up,serve,funnel,set,file,login
		zerotier-cli: 0=join
		code code-insiders codium cursor: 0=tunnel,serve-web
		xhost: 0`)
})

// Serves judges a web server for a folder that holds more than a project.
func Serves(l *track.Line, rest []string) {
	folders := append(getopt.OptionValues(rest, "-d", "--directory"), l.Dir)
	if folder := folders[0]; folder != "" && (l.Vital(folder) || lex.Dynamic(folder) || l.SecretWord(folder)) {
		l.Ask("remote-access", "opens this machine to other machines")
	}
}
