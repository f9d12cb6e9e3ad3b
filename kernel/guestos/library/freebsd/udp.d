/*
 * UDP and UDP-Lite of a FreeBSD kernel. ip.d comes before it.
 */
typedef struct udpsinfo {
	uintptr_t udps_addr;
	uint16_t udps_lport;
	uint16_t udps_rport;
	string udps_laddr;
	string udps_raddr;
} udpsinfo_t;

translator udpsinfo_t < struct inpcb *P > {
	udps_addr = (uintptr_t)P;
	udps_lport = P ? ntohs(P->inp_inc.inc_ie.ie_lport) : 0;
	udps_rport = P ? ntohs(P->inp_inc.inc_ie.ie_fport) : 0;
	udps_laddr = !P ? "<unknown>" : P->inp_vflag & 1 ?
	    inet_ntoa(&P->inp_inc.inc_ie.ie_dependladdr.id46_addr.ia46_addr4.s_addr) :
	    inet_ntoa6(&P->inp_inc.inc_ie.ie_dependladdr.id6_addr);
	udps_raddr = !P ? "<unknown>" : P->inp_vflag & 1 ?
	    inet_ntoa(&P->inp_inc.inc_ie.ie_dependfaddr.id46_addr.ia46_addr4.s_addr) :
	    inet_ntoa6(&P->inp_inc.inc_ie.ie_dependfaddr.id6_addr);
};

typedef struct udpinfo {
	uint16_t udp_sport;
	uint16_t udp_dport;
	uint16_t udp_length;
	uint16_t udp_checksum;
	struct udphdr * udp_hdr;
} udpinfo_t;

translator udpinfo_t < struct udphdr *P > {
	udp_sport = P ? ntohs(P->uh_sport) : 0;
	udp_dport = P ? ntohs(P->uh_dport) : 0;
	udp_length = P ? ntohs(P->uh_ulen) : 0;
	udp_checksum = P ? ntohs(P->uh_sum) : 0;
	udp_hdr = P;
};

typedef struct udplitesinfo {
	uintptr_t udplites_addr;
	uint16_t udplites_lport;
	uint16_t udplites_rport;
	string udplites_laddr;
	string udplites_raddr;
} udplitesinfo_t;

translator udplitesinfo_t < struct inpcb *P > {
	udplites_addr = (uintptr_t)P;
	udplites_lport = P ? ntohs(P->inp_inc.inc_ie.ie_lport) : 0;
	udplites_rport = P ? ntohs(P->inp_inc.inc_ie.ie_fport) : 0;
	udplites_laddr = !P ? "<unknown>" : P->inp_vflag & 1 ?
	    inet_ntoa(&P->inp_inc.inc_ie.ie_dependladdr.id46_addr.ia46_addr4.s_addr) :
	    inet_ntoa6(&P->inp_inc.inc_ie.ie_dependladdr.id6_addr);
	udplites_raddr = !P ? "<unknown>" : P->inp_vflag & 1 ?
	    inet_ntoa(&P->inp_inc.inc_ie.ie_dependfaddr.id46_addr.ia46_addr4.s_addr) :
	    inet_ntoa6(&P->inp_inc.inc_ie.ie_dependfaddr.id6_addr);
};

typedef struct udpliteinfo {
	uint16_t udplite_sport;
	uint16_t udplite_dport;
	uint16_t udplite_coverage;
	uint16_t udplite_checksum;
	struct udphdr * udplite_hdr;
} udpliteinfo_t;

translator udpliteinfo_t < struct udphdr *P > {
	udplite_sport = P ? ntohs(P->uh_sport) : 0;
	udplite_dport = P ? ntohs(P->uh_dport) : 0;
	udplite_coverage = P ? ntohs(P->uh_ulen) : 0;
	udplite_checksum = P ? ntohs(P->uh_sum) : 0;
	udplite_hdr = P;
};
