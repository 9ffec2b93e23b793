package shell

import (
	"slices"
	"strings"
)

// remote judges commands that give another machine a shell here, or a way in.
func (j *judge) remote(name string, rest []string, s situation) {
	if showsText(name) {
		return
	}
	for _, a := range rest {
		j.socket(a)
	}
	if s.in.shell && (isNetcat(name) || name == "socat" || name == "telnet" || name == "openssl" || name == "websocat") {
		j.ask("remote-shell", "gives another machine a shell on this one")
	}
	switch {
	case isNetcat(name):
		j.netcat(rest)
	case name == "socat":
		j.socat(rest)
	case name == "autossh":
		j.sshOptions(rest, sshValues+"M")
	case opensAccess(name, rest):
		j.ask("remote-access", "opens this machine to other machines")
	case strings.HasPrefix(name, "python") && slices.Contains(rest, "http.server"):
		j.serves(rest)
	}
}

// socket recognizes the file names that shells and awk read as connections.
func (j *judge) socket(text string) {
	for _, prefix := range []string{"/dev/tcp/", "/dev/udp/", "/inet/tcp", "/inet/udp", "/inet4/", "/inet6/"} {
		if strings.Contains(text, prefix) {
			j.ask("remote-shell", "connects the shell to another machine")
		}
	}
}

// showsText reports whether a program only shows, searches or stores its
// arguments: to it they are data.
func showsText(name string) bool {
	switch name {
	case "echo", "printf", "cat", "grep", "egrep", "fgrep", "rg", "ag", "git", "gh", "less", "head", "tail", "ls", "man", "which", "jq":
		return true
	}
	return false
}

func isNetcat(name string) bool {
	return name == "nc" || name == "ncat" || name == "netcat" || strings.HasPrefix(name, "nc.")
}

// netcat allows testing a port and connecting to this machine.
func (j *judge) netcat(rest []string) {
	if hasShort(rest, "ec") || hasLong(rest, "--exec") || hasLong(rest, "--sh-exec") || hasLong(rest, "--lua-exec") {
		j.ask("remote-shell", "gives another machine a shell on this one")
	}
	const netcatValues = "pwsiqXxIOTVmMGgo"
	words := wrapper{values: netcatValues, long: " --source-port --wait --delay --idle-timeout --proxy --proxy-type "}.rest(rest)
	switch {
	case certainShort(rest, "zhU", netcatValues) || asksHelp(rest):
	case hasShort(rest, "l") || hasLong(rest, "--listen"), len(words) > 0 && !thisMachine(words[0]):
		j.ask("raw-connection", "opens a connection through which anything may be sent or received")
	}
}

// socat connects two addresses, of which one may be a program.
func (j *judge) socat(rest []string) {
	for _, a := range plainWords(rest) {
		kind, target, _ := strings.Cut(strings.ToLower(a), ":")
		listens := strings.Contains(kind, "listen") || strings.HasSuffix(kind, "-l") || strings.Contains(kind, "recv")
		switch {
		case kind == "exec" || kind == "system" || kind == "shell":
			j.ask("remote-shell", "gives another machine a shell on this one")
		case strings.HasPrefix(kind, "unix") || strings.HasPrefix(kind, "abstract"):
		case listens, strings.Contains(a, ":") && !thisMachine(target) && !strings.HasPrefix(kind, "file") && !strings.HasPrefix(kind, "open") && !strings.HasPrefix(kind, "pty"):
			j.ask("raw-connection", "opens a connection through which anything may be sent or received")
		}
	}
}

// thisMachine reports whether an address is certainly this machine.
func thisMachine(address string) bool {
	address = strings.TrimPrefix(address, "[")
	for _, own := range []string{"localhost", "127.0.0.1", "::1"} {
		if rest, ok := strings.CutPrefix(address, own); ok && (rest == "" || strings.ContainsRune(":],/", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// opensAccess reports whether a program lets others in: tunnels, remote desktops,
// servers for logins, shared terminals.
func opensAccess(name string, rest []string) bool {
	words := plainWords(rest)
	verb := ""
	if len(words) > 0 {
		verb = words[0]
	}
	switch name {
	case "ngrok", "chisel", "frpc", "frps", "bore", "lt", "localtunnel", "ttyd", "gotty", "wetty", "tmate", "upterm", "sshx", "x11vnc", "vncserver", "x0vncserver", "tigervncserver",
		"tightvncserver", "sshd", "dropbear", "telnetd", "in.telnetd", "utelnetd", "inetd", "xinetd", "msfconsole", "msfvenom", "evil-winrm", "dnscat", "dnscat2", "iodine", "ptunnel",
		"revsocks", "openvpn", "wg-quick", "websocat", "gsocket", "gs-netcat", "pwncat", "pwncat-cs", "pwncat-vl", "proot-sshd", "rathole", "inlets", "pagekite", "zrok":
		return verb != "version" && verb != "help" && !asksHelp(rest)
	case "cloudflared":
		return verb == "tunnel" || verb == "access"
	case "tailscale":
		return slices.Contains([]string{"up", "serve", "funnel", "set", "file", "login"}, verb)
	case "zerotier-cli":
		return verb == "join"
	case "code", "code-insiders", "codium", "cursor":
		return verb == "tunnel" || verb == "serve-web"
	case "xhost":
		return len(words) > 0 || slices.Contains(rest, "+")
	}
	return false
}

// serves judges a web server for a folder that holds more than a project.
func (j *judge) serves(rest []string) {
	folders := append(optionValues(rest, "-d", "--directory"), j.dir)
	if folder := folders[0]; folder != "" && (j.vital(folder) || dynamic(folder) || j.secretWord(folder)) {
		j.ask("remote-access", "opens this machine to other machines")
	}
}
