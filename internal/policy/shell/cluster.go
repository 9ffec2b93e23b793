package shell

import (
	"slices"
	"strings"
)

const (
	kubectlLooks = "get describe logs top explain version cluster-info config api-resources api-versions diff wait events kustomize options port-forward auth completion plugin can-i status history"
	helmLooks    = "repo template create package pull fetch dependency dep env registry"
)

// cluster judges tools for clusters and virtual machines.
func (j *judge) cluster(name string, rest []string) {
	words := verbWords(rest)
	if len(words) == 0 || isRehearsal(name, rest) {
		return
	}
	switch name {
	case "kubectl", "oc", "kubecolor", "k":
		j.clusterDeed(kubectlDeed(words), true)
		if strings.HasPrefix(strings.Join(optionValues(rest, "--address", "--address"), ""), "0.") {
			j.ask("remote-access", "opens this machine to other machines")
		}
	case "helm":
		j.clusterDeed(firstDeed(words, helmLooks), true)
	case "microk8s", "minikube":
		if words[0] == "kubectl" {
			if i := slices.Index(rest, "--"); i >= 0 {
				rest = rest[i:]
			}
			j.cluster("kubectl", rest[1:])
			return
		}
		j.clusterDeed(firstDeed(words, "start stop service dashboard addons image ip"), false)
	case "helmfile", "skaffold", "tilt", "argocd", "flux", "istioctl", "linkerd", "velero", "rancher", "kind", "k3d", "k3s", "k0s", "kubeadm", "vcluster", "lxc", "incus", "multipass", "virsh",
		"vboxmanage", "prlctl", "limactl", "colima", "ctr", "crictl", "buildah", "skopeo", "crane", "regctl", "oras", "etcdctl", "kubectl-delete", "qm", "pct", "xe", "govc":
		j.clusterDeed(firstDeed(words, "start stop run up"), false)
	case "docker", "podman", "nerdctl":
		if firstDeed(words[:min(2, len(words))], "run stop start create exec cp tag commit update") == deletes {
			j.ask("docker-lifecycle", "stops, restarts or removes containers")
		}
		if words[0] == "plugin" && firstDeed(words[1:], "") == changes || words[0] == "swarm" || words[0] == "stack" && firstDeed(words[1:], "ps services") == changes || words[0] == "service" && firstDeed(words[1:], "") == changes {
			j.clusterDeed(changes, true)
		}
	}
}

// kubectlDeed is what the first word says: names of resources may look like
// verbs.
func kubectlDeed(words []string) deed {
	for _, w := range words {
		if w != "rollout" && w != "certificate" && w != "adm" {
			return max(deedOf(w, kubectlLooks), looks)
		}
	}
	return looks
}

// clusterDeed asks about what deletes and, for a cluster that others use, too,
// about any change.
func (j *judge) clusterDeed(d deed, shared bool) {
	switch {
	case d == deletes:
		j.ask("cluster-delete", "deletes or stops what runs in a cluster or a virtual machine")
	case d == changes && shared:
		j.ask("cluster-change", "changes what runs in a cluster")
	}
}
