package machine

import (
	"hermes/internal/policy/shell/environ"
	"hermes/internal/policy/shell/track"
)

// User judges commands that hide what was done, record what the user does, or delete
// what the user would restore.
var User = track.Rules(
	track.Rule{Key: "log-delete", Reason: environ.HidesWhatRan, Calls: `
		history: -cd
		unset: any=HIST*
		set: any=+o&any=history
		clear-history remove-eventlog: always`},
	track.Rule{Key: "records", Reason: "records the screen, a microphone, keys or the network", Calls: `
		tcpdump: !-rDh/BcCEFGijmMQrsTVwWyzZ&!help
		tshark dumpcap ngrep tcpflow: !-rDh/aAbBcCdeEfFGHijJKlmMnNoOPQrRsSTtuUVwWXyYzZ&!help
		screencapture scrot grim maim gnome-screenshot spectacle arecord parecord pw-record fswebcam imagesnap logkeys xspy showkey: !--help&!--version
		ffmpeg: -f=avfoundation,x11grab,alsa,pulse,v4l2,kmsgrab,gdigrab,dshow
		xinput: arg0=test*`},
	track.Rule{Key: "types-for-user", Reason: "types into a terminal or a window, where it may answer a question to the user", Calls: `
		tmux: any=send*,paste*
		screen: any=stuff,paste
		kitty kitten: any=send-text,send-key
		wezterm: any=send-text
		zellij: any=write,write-chars,paste
		xdotool: any=key,keydown,type,click
		ydotool wtype cliclick: !--help&!--version`},
	track.Rule{Key: "other-process", Reason: "takes hold of a running program, which may be Hermes or a shell of the user", Calls: `
		gdb lldb: -p --pid --attach-pid any=attach*
		reptyr: always
		dlv: arg0=attach`},
	track.Rule{Key: "backup-delete", Reason: "deletes backups", Calls: `
		restic: any=forget,prune&!-n&!--dry-run
		borg: any=delete,prune&!-n&!--dry-run
		kopia: any=delete,expire,gc&!-n&!--dry-run
		duplicity duplicacy: any=remove-all-but-n-full,remove-older-than,remove-all-inc-of-but-n-full,cleanup,prune&!-n&!--dry-run
		rdiff-backup: --remove-older-than&!-n&!--dry-run any=remove&!-n&!--dry-run`},
)
