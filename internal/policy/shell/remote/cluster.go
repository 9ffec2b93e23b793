package remote

import (
	"slices"
	"strings"

	"hermes/internal/policy/shell/getopt"
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
