/*
 * IP of a FreeBSD kernel: what the probes of ip, tcp and udp pass, translated.
 */
typedef struct pktinfo {
	uintptr_t pkt_addr;
} pktinfo_t;

translator pktinfo_t < void *P > {
	pkt_addr = (uintptr_t)P;
};

typedef struct csinfo {
	uintptr_t cs_addr;
	uint64_t cs_cid;
	pid_t cs_pid;
	uint32_t cs_zoneid;
} csinfo_t;

translator csinfo_t < void *P > {
	cs_addr = (uintptr_t)P;
	cs_cid = 0;
	cs_pid = -1;
	cs_zoneid = -1;
};

translator csinfo_t < struct inpcb *P > {
	cs_addr = (uintptr_t)P;
	cs_cid = (uint64_t)P;
	cs_pid = -1;
	cs_zoneid = -1;
};

typedef struct ipinfo {
	uint8_t ip_ver;		/* 4 or 6 */
	uint32_t ip_plength;	/* bytes behind the header */
	string ip_saddr;	/* addresses of source and destination */
	string ip_daddr;
} ipinfo_t;

translator ipinfo_t < uint8_t *P > {
	ip_ver = P ? *P >> 4 : 0;
	ip_plength = !P ? 0 :
	    *P >> 4 == 4 ? ntohs(((struct ip *)P)->ip_len) - ((*P & 0xf) << 2) :
	    *P >> 4 == 6 ? ntohs(((struct ip6_hdr *)P)->ip6_ctlun.ip6_un1.ip6_un1_plen) : 0;
	ip_saddr = !P ? "<unknown>" :
	    *P >> 4 == 4 ? inet_ntoa(&((struct ip *)P)->ip_src.s_addr) :
	    *P >> 4 == 6 ? inet_ntoa6(&((struct ip6_hdr *)P)->ip6_src) : "<unknown>";
	ip_daddr = !P ? "<unknown>" :
	    *P >> 4 == 4 ? inet_ntoa(&((struct ip *)P)->ip_dst.s_addr) :
	    *P >> 4 == 6 ? inet_ntoa6(&((struct ip6_hdr *)P)->ip6_dst) : "<unknown>";
};

translator ipinfo_t < struct mbuf *M > {
	ip_ver = M ? *(uint8_t *)M->m_data >> 4 : 0;
	ip_plength = !M ? 0 :
	    *(uint8_t *)M->m_data >> 4 == 4 ?
	    ntohs(((struct ip *)M->m_data)->ip_len) - ((*(uint8_t *)M->m_data & 0xf) << 2) :
	    *(uint8_t *)M->m_data >> 4 == 6 ?
	    ntohs(((struct ip6_hdr *)M->m_data)->ip6_ctlun.ip6_un1.ip6_un1_plen) : 0;
	ip_saddr = !M ? "<unknown>" :
	    *(uint8_t *)M->m_data >> 4 == 4 ? inet_ntoa(&((struct ip *)M->m_data)->ip_src.s_addr) :
	    *(uint8_t *)M->m_data >> 4 == 6 ? inet_ntoa6(&((struct ip6_hdr *)M->m_data)->ip6_src) : "<unknown>";
	ip_daddr = !M ? "<unknown>" :
	    *(uint8_t *)M->m_data >> 4 == 4 ? inet_ntoa(&((struct ip *)M->m_data)->ip_dst.s_addr) :
	    *(uint8_t *)M->m_data >> 4 == 6 ? inet_ntoa6(&((struct ip6_hdr *)M->m_data)->ip6_dst) : "<unknown>";
};

inline int IFF_LOOPBACK = 0x8;

typedef struct ifinfo {
	string if_name;
	int8_t if_local;	/* it is delivered to this machine */
	uintptr_t if_addr;
} ifinfo_t;

translator ifinfo_t < struct ifnet *P > {
	if_name = P ? stringof((char *)P->if_xname) : "null";
	if_local = !P || P->if_flags & IFF_LOOPBACK ? 1 : 0;
	if_addr = (uintptr_t)P;
};

inline short IPPROTO_IP = 0;
inline short IPPROTO_ICMP = 1;
inline short IPPROTO_IGMP = 2;
inline short IPPROTO_IPV4 = 4;
inline short IPPROTO_TCP = 6;
inline short IPPROTO_UDP = 17;
inline short IPPROTO_IPV6 = 41;
inline short IPPROTO_ROUTING = 43;
inline short IPPROTO_FRAGMENT = 44;
inline short IPPROTO_RSVP = 46;
inline short IPPROTO_GRE = 47;
inline short IPPROTO_ESP = 50;
inline short IPPROTO_AH = 51;
inline short IPPROTO_MOBILE = 55;
inline short IPPROTO_ICMPV6 = 58;
inline short IPPROTO_DSTOPTS = 60;
inline short IPPROTO_ETHERIP = 97;
inline short IPPROTO_PIM = 103;
inline short IPPROTO_IPCOMP = 108;
inline short IPPROTO_SCTP = 132;
inline short IPPROTO_UDPLITE = 136;
inline short IPPROTO_RAW = 255;

inline string protocols[int proto] =
	proto == IPPROTO_IP ? "IP" :
	proto == IPPROTO_ICMP ? "ICMP" :
	proto == IPPROTO_IGMP ? "IGMP" :
	proto == IPPROTO_IPV4 ? "IPV4" :
	proto == IPPROTO_TCP ? "TCP" :
	proto == IPPROTO_UDP ? "UDP" :
	proto == IPPROTO_IPV6 ? "IPV6" :
	proto == IPPROTO_ROUTING ? "ROUTING" :
	proto == IPPROTO_FRAGMENT ? "FRAGMENT" :
	proto == IPPROTO_RSVP ? "RSVP" :
	proto == IPPROTO_GRE ? "GRE" :
	proto == IPPROTO_ESP ? "ESP" :
	proto == IPPROTO_AH ? "AH" :
	proto == IPPROTO_MOBILE ? "MOBILE" :
	proto == IPPROTO_ICMPV6 ? "ICMPV6" :
	proto == IPPROTO_DSTOPTS ? "DSTOPTS" :
	proto == IPPROTO_ETHERIP ? "ETHERIP" :
	proto == IPPROTO_PIM ? "PIM" :
	proto == IPPROTO_IPCOMP ? "IPCOMP" :
	proto == IPPROTO_SCTP ? "SCTP" :
	proto == IPPROTO_UDPLITE ? "UDPLITE" :
	proto == IPPROTO_RAW ? "RAW" :
	"<unknown>";

typedef struct ipv4info {
	uint8_t ipv4_ver;
	uint8_t ipv4_ihl;	/* bytes of the header */
	uint8_t ipv4_tos;
	uint16_t ipv4_length;	/* bytes of header and payload */
	uint16_t ipv4_ident;
	uint8_t ipv4_flags;
	uint16_t ipv4_offset;
	uint8_t ipv4_ttl;
	uint8_t ipv4_protocol;
	string ipv4_protostr;
	uint16_t ipv4_checksum;
	uint32_t ipv4_src;
	uint32_t ipv4_dst;
	string ipv4_saddr;
	string ipv4_daddr;
} ipv4info_t;

translator ipv4info_t < struct ip *P > {
	ipv4_ver = P ? *(uint8_t *)P >> 4 : 0;
	ipv4_ihl = P ? (*(uint8_t *)P & 0xf) << 2 : 0;
	ipv4_tos = P ? P->ip_tos : 0;
	ipv4_length = P ? ntohs(P->ip_len) : 0;
	ipv4_ident = P ? ntohs(P->ip_id) : 0;
	ipv4_flags = P ? ntohs(P->ip_off) >> 13 : 0;
	ipv4_offset = P ? ntohs(P->ip_off) & 0x1fff : 0;
	ipv4_ttl = P ? P->ip_ttl : 0;
	ipv4_protocol = P ? P->ip_p : 0;
	ipv4_protostr = P ? protocols[P->ip_p] : "<null>";
	ipv4_checksum = P ? ntohs(P->ip_sum) : 0;
	ipv4_src = P ? (uint32_t)ntohl(P->ip_src.s_addr) : 0;
	ipv4_dst = P ? (uint32_t)ntohl(P->ip_dst.s_addr) : 0;
	ipv4_saddr = P ? inet_ntoa(&P->ip_src.s_addr) : "<null>";
	ipv4_daddr = P ? inet_ntoa(&P->ip_dst.s_addr) : "<null>";
};

typedef struct ipv6info {
	uint8_t ipv6_ver;
	uint8_t ipv6_nexthdr;
	string ipv6_nextstr;
	uint8_t ipv6_hlim;
	uint16_t ipv6_plen;
	string ipv6_saddr;
	string ipv6_daddr;
} ipv6info_t;

translator ipv6info_t < struct ip6_hdr *P > {
	ipv6_ver = P ? *(uint8_t *)P >> 4 : 0;
	ipv6_nexthdr = P ? P->ip6_ctlun.ip6_un1.ip6_un1_nxt : 0;
	ipv6_nextstr = P ? protocols[P->ip6_ctlun.ip6_un1.ip6_un1_nxt] : "<null>";
	ipv6_hlim = P ? P->ip6_ctlun.ip6_un1.ip6_un1_hlim : 0;
	ipv6_plen = P ? ntohs(P->ip6_ctlun.ip6_un1.ip6_un1_plen) : 0;
	ipv6_saddr = P ? inet_ntoa6(&P->ip6_src) : "<null>";
	ipv6_daddr = P ? inet_ntoa6(&P->ip6_dst) : "<null>";
};
