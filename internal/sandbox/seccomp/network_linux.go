//go:build amd64 || arm64

package seccomp

import "golang.org/x/sys/unix"

// network restricts which sockets can be made, and ways of sending that need no
// connect.
func (f Filter) network() code {
	rules := join(
		ifEqual(unix.SYS_SOCKET, f.socket()),
		ifEqual(unix.SYS_SOCKETPAIR, f.socketpair()),
	)
	if !f.Notify || f.NetOff {
		return rules
	}
	return join(
		rules,
		eachOf([]uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN}, answer(unix.SECCOMP_RET_USER_NOTIF)),
		ifEqual(unix.SYS_SENDTO, fastOpen(3)),
		ifEqual(unix.SYS_SENDMSG, fastOpen(2)),
		ifEqual(unix.SYS_SENDMMSG, fastOpen(3)),
		ifEqual(unix.SYS_SETSOCKOPT, socketOptions()),
	)
}

// socket answers by family, type and protocol. All three are ints. Flags for new
// descriptors stand in the high bits of the type.
func (f Filter) socket() code {
	rules := join(
		argument(0),
		ifEqual(unix.AF_INET, f.internet()),
		ifEqual(unix.AF_INET6, f.internet()),
		ifEqual(unix.AF_NETLINK, routing()),
	)
	local := refuse(unix.EPERM)
	if f.Unix {
		local = allow()
	}
	return join(rules, ifEqual(unix.AF_UNIX, local), refuse(unix.EAFNOSUPPORT))
}

// internet allows TCP, and UDP where the filter does. MPTCP (262) above all is
// refused: neither Landlock nor the supervisor knows it.
func (f Filter) internet() code {
	if f.NetOff {
		return refuse(unix.EPERM)
	}
	rules := join(
		argument(1), masked(0xf),
		ifEqual(unix.SOCK_STREAM, protocols(unix.IPPROTO_TCP)),
	)
	if f.Datagram {
		rules = join(rules, ifEqual(unix.SOCK_DGRAM, protocols(unix.IPPROTO_UDP)))
	}
	return join(rules, refuse(unix.EPERM))
}

func protocols(only uint32) code {
	return join(argument(2), ifEqual(0, allow()), ifEqual(only, allow()), refuse(unix.EPROTONOSUPPORT))
}

// routing allows the netlink sockets that programs list interfaces with. Changes
// need a capability.
func routing() code {
	return join(argument(2), ifEqual(unix.NETLINK_ROUTE, allow()), refuse(unix.EPROTONOSUPPORT))
}

// socketpair allows streams. A datagram pair is refused, because sendto on it
// reaches any Unix socket. Sequenced packets ignore the address of sendto, and like
// streams cannot be connected again; Rust's programs start others with them.
func (f Filter) socketpair() code {
	if f.Unix {
		return join(argument(0), ifEqual(unix.AF_UNIX, allow()), refuse(unix.EAFNOSUPPORT))
	}
	rules := join(argument(1), masked(0xf), ifEqual(unix.SOCK_STREAM, allow()), ifEqual(unix.SOCK_SEQPACKET, allow()))
	return join(argument(0), unlessEqual(unix.AF_UNIX, refuse(unix.EAFNOSUPPORT)), rules, refuse(unix.EPERM))
}

// fastOpen refuses to connect by sending.
func fastOpen(flags uint32) code {
	return join(argument(flags), ifAny(unix.MSG_FASTOPEN, refuse(unix.EOPNOTSUPP)), allow())
}

// socketOptions refuses those that lead a connection elsewhere than its address
// says: source routes put other hosts' addresses into the packets of a connection
// to loopback, a device sends them out of the machine, and two options of TCP
// connect later or become another protocol.
func socketOptions() code {
	level := func(level uint32, names ...uint32) code {
		return ifEqual(level, join(argument(2), eachOf(names, refuse(unix.ENOPROTOOPT)), allow()))
	}
	return join(
		argument(1),
		level(unix.SOL_SOCKET, unix.SO_BINDTODEVICE, unix.SO_BINDTOIFINDEX),
		level(unix.IPPROTO_IP, unix.IP_OPTIONS, unix.IP_UNICAST_IF),
		level(unix.IPPROTO_IPV6, unix.IPV6_RTHDR, unix.IPV6_2292RTHDR, unix.IPV6_2292PKTOPTIONS,
			unix.IPV6_HOPOPTS, unix.IPV6_2292HOPOPTS, unix.IPV6_DSTOPTS, unix.IPV6_2292DSTOPTS,
			unix.IPV6_RTHDRDSTOPTS, unix.IPV6_UNICAST_IF),
		level(unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT, unix.TCP_ULP),
		allow(),
	)
}
