package netguard

import (
	"net"
	"net/netip"
	"strings"
)

// Class is the class of an address or a name.
type Class int

// Classes of addresses and names.
const (
	Public   Class = iota
	Private        // this machine or its network: allowed by Guard.Private
	Unusable       // never a valid target
	Metadata       // hands out credentials: never allowed
)

// Classify returns the class of an address, and what it is in words for the user ("a
// multicast address"; empty if it is public). An IPv4 address within an IPv6 one counts as
// what it is alone.
func Classify(a netip.Addr) (Class, string) { return judge(a) }

// ClassifyOn is Classify on a machine whose interfaces have addresses in these networks: a
// public address may be one of its own, and those of its IPv6 networks are its neighbours.
func ClassifyOn(a netip.Addr, networks []netip.Prefix) (Class, string) {
	class, what := judge(a)
	if class != Public {
		return class, what
	}
	inner, _ := Embedded(a)
	for _, n := range networks {
		switch own := n.Addr().Unmap(); {
		case own == a.Unmap() || own == inner:
			return Private, "this machine"
		case own.Is6() && n.Bits() >= 48 && n.Contains(a):
			return Private, "this machine's network"
		}
	}
	return Public, ""
}

// Networks lists the addresses of this machine's interfaces with their networks. It is nil if
// the system does not say.
func Networks() (out []netip.Prefix) {
	list, _ := net.InterfaceAddrs()
	for _, one := range list {
		if n, ok := one.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(n.IP); ok {
				bits, _ := n.Mask.Size()
				out = append(out, netip.PrefixFrom(a.Unmap(), bits))
			}
		}
	}
	return out
}

// ClassifyName returns the class of a host name in its plain form, as its text alone shows
// it: nothing is looked up.
func ClassifyName(host string) (Class, string) { return judgeName(host) }

// Embedded returns the IPv4 address that receives the traffic to an IPv6 address: of NAT64,
// 6to4 and ISATAP.
func Embedded(a netip.Addr) (netip.Addr, bool) {
	if !a.Is6() {
		return netip.Addr{}, false
	}
	return embedded(a)
}

// block is a range of addresses with its name.
type block struct {
	netip.Prefix
	kind Class
	name string
}

func blocks(k Class, name string, list ...string) []block {
	out := make([]block, len(list))
	for i, p := range list {
		out[i] = block{netip.MustParsePrefix(p), k, name}
	}
	return out
}

// reserved are the ranges that are not public. The first one that contains an
// address counts.
var reserved = func() []block {
	var all []block
	for _, list := range [][]block{
		blocks(Metadata, "a cloud metadata service",
			"169.254.169.0/24", "169.254.170.0/24", "169.254.0.23/32", "100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
			"fd00:ec2::/32", "fd20:ce::/64", "fe80::a9fe:a9fe/128"),
		blocks(Private, "this machine", "127.0.0.0/8", "::1/128"),
		blocks(Private, "a private network address", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
		blocks(Private, "a link-local address", "169.254.0.0/16", "fe80::/10", "fec0::/10"),
		blocks(Private, "an address of a carrier's shared network", "100.64.0.0/10"),
		blocks(Private, "an address for network benchmarks", "198.18.0.0/15", "2001:2::/48"),
		blocks(Private, "a unique local address", "fc00::/7"),
		blocks(Private, "a local NAT64 address", "64:ff9b:1::/48"),
		blocks(Unusable, "an unspecified address", "0.0.0.0/8", "::/128"),
		blocks(Unusable, "a multicast address", "224.0.0.0/4", "ff00::/8"),
		blocks(Unusable, "a reserved address", "240.0.0.0/4", "192.0.0.0/24", "192.88.99.0/24",
			"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",
			"2001::/32", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "3fff::/20", "5f00::/16"),
	} {
		all = append(all, list...)
	}
	return all
}()

var (
	unicast6  = netip.MustParsePrefix("2000::/3") // the public part of IPv6
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
)

// judge classifies an address and describes it in words for the user.
func judge(a netip.Addr) (Class, string) {
	if !a.IsValid() || a.Zone() != "" {
		return Unusable, "an address that is only valid on one machine"
	}
	if a.Is4In6() {
		if k, name := judge(a.Unmap()); k != Public {
			return k, name
		}
		return Unusable, "an IPv4 address written as IPv6"
	}
	for _, b := range reserved {
		if b.Contains(a) {
			return b.kind, b.name
		}
	}
	if a.Is4() {
		return Public, ""
	}
	if inner, ok := embedded(a); ok {
		return judge(inner)
	}
	if !unicast6.Contains(a) {
		return Unusable, "a reserved address"
	}
	return Public, ""
}

// embedded returns the IPv4 address that receives the traffic to an IPv6 address.
func embedded(a netip.Addr) (netip.Addr, bool) {
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return netip.AddrFrom4([4]byte(b[12:16])), true
	}
	return netip.Addr{}, false
}

// metadataHosts hand out credentials to every caller, as do their subdomains.
var metadataHosts = [...]string{
	"metadata.google.internal", "metadata.goog", "metadata", "instance-data", "instance-data.ec2.internal",
	"metadata.azure.internal", "metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com",
}

// judgeName classifies a name without resolving it.
func judgeName(host string) (Class, string) {
	for _, m := range metadataHosts {
		if host == m || strings.HasSuffix(host, "."+m) && strings.Contains(m, ".") {
			return Metadata, "a cloud metadata service"
		}
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return Private, "this machine"
	}
	return Public, ""
}
