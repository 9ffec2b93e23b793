package remote

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
	"hermes/internal/policy/shell/lex"
	"hermes/internal/policy/shell/track"
)

const (
	kubectlLooks = "get describe logs top explain version cluster-info config api-resources api-versions diff wait events kustomize options port-forward auth completion plugin can-i status history"
	helmLooks    = "repo template create package pull fetch dependency dep env registry"
)

// cluster judges tools for clusters and virtual machines.
func cluster(l *track.Line, name string, rest []string) {
	words := getopt.VerbWords(rest)
	if len(words) == 0 || getopt.IsRehearsal(name, rest) {
		return
	}
	switch name {
	case "kubectl", "oc", "kubecolor", "k":
		clusterDeed(l, kubectlDeed(words), true)
		if strings.HasPrefix(strings.Join(getopt.OptionValues(rest, "--address", "--address"), ""), "0.") {
			l.Ask("remote-access", "opens this machine to other machines")
		}
	case "helm":
		clusterDeed(l, getopt.FirstDeed(words, helmLooks), true)
	case "microk8s", "minikube":
		if words[0] == "kubectl" {
			if i := slices.Index(rest, "--"); i >= 0 {
				rest = rest[i:]
			}
			cluster(l, "kubectl", rest[1:])
			return
		}
		clusterDeed(l, getopt.FirstDeed(words, "start stop service dashboard addons image ip"), false)
	case "helmfile", "skaffold", "tilt", "argocd", "flux", "istioctl", "linkerd", "velero", "rancher", "kind", "k3d", "k3s", "k0s", "kubeadm", "vcluster", "lxc", "incus", "multipass", "virsh",
		"vboxmanage", "prlctl", "limactl", "colima", "ctr", "crictl", "buildah", "skopeo", "crane", "regctl", "oras", "etcdctl", "kubectl-delete", "qm", "pct", "xe", "govc":
		clusterDeed(l, getopt.FirstDeed(words, "start stop run up"), false)
	case "docker", "podman", "nerdctl":
		if getopt.FirstDeed(words[:min(2, len(words))], "run stop start create exec cp tag commit update") == getopt.Deletes {
			l.Ask("docker-lifecycle", "stops, restarts or removes containers")
		}
		if words[0] == "plugin" && getopt.FirstDeed(words[1:], "") == getopt.Changes || words[0] == "swarm" || words[0] == "stack" && getopt.FirstDeed(words[1:], "ps services") == getopt.Changes || words[0] == "service" && getopt.FirstDeed(words[1:], "") == getopt.Changes {
			clusterDeed(l, getopt.Changes, true)
		}
	}
}

// kubectlDeed is what the first word says: names of resources may look like
// verbs.
func kubectlDeed(words []string) getopt.Deed {
	for _, w := range words {
		if w != "rollout" && w != "certificate" && w != "adm" {
			return max(getopt.DeedOf(w, kubectlLooks), getopt.Looks)
		}
	}
	return getopt.Looks
}

// clusterDeed asks about what deletes and, for a cluster that others use, too,
// about any change.
func clusterDeed(l *track.Line, d getopt.Deed, shared bool) {
	switch {
	case d == getopt.Deletes:
		l.Ask("cluster-delete", "deletes or stops what runs in a cluster or a virtual machine")
	case d == getopt.Changes && shared:
		l.Ask("cluster-change", "changes what runs in a cluster")
	}
}

// ContainerRights judges the options of a new container with which it reaches
// this machine: its root, its devices, its other programs, or secret files.
func ContainerRights(l *track.Line, args []string) {
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case a == "--":
			return
		case name == "-v" || name == "--volume":
			containerMount(l, value)
		case strings.HasPrefix(a, "-v") && len(a) > 2 && !strings.HasPrefix(a, "--"):
			containerMount(l, a[2:])
		case name == "--mount":
			for part := range strings.SplitSeq(a+","+value, ",") {
				if key, source, ok := strings.Cut(part, "="); ok && (key == "source" || key == "src") {
					containerMount(l, source)
				}
			}
		case name == "--privileged" && value != "false", name == "--device", name == "--cap-add", name == "--volumes-from",
			(name == "--pid" || name == "--ipc" || name == "--uts" || name == "--userns" || name == "--cgroupns") && value == "host",
			name == "--security-opt" && strings.Contains(value, "unconfined"):
			l.Ask("container-rights", "lets a container reach this machine beyond its own folders")
		}
	}
}

// containerMount judges a folder that a container gets.
func containerMount(l *track.Line, mount string) {
	source, _, _ := strings.Cut(mount, ":")
	if !strings.ContainsAny(source, "/~.") && !lex.Dynamic(source) { // a volume with a name
		return
	}
	p, ok := l.Absolute(source)
	if ok && (l.Vital(p) || track.InFolder(p, "/proc") || track.InFolder(p, "/sys") || track.InFolder(p, "/dev") || track.InFolder(p, "/etc") || strings.HasSuffix(p, ".sock") || l.SecretPath(p)) {
		l.Ask("container-rights", "lets a container reach this machine beyond its own folders")
	}
}
