/*
 * TCP of a FreeBSD kernel. ip.d comes before it.
 */
inline int TCPS_CLOSED = 0;
inline int TCPS_LISTEN = 1;
inline int TCPS_SYN_SENT = 2;
inline int TCPS_SYN_RECEIVED = 3;
inline int TCPS_ESTABLISHED = 4;
inline int TCPS_CLOSE_WAIT = 5;
inline int TCPS_FIN_WAIT_1 = 6;
inline int TCPS_CLOSING = 7;
inline int TCPS_LAST_ACK = 8;
inline int TCPS_FIN_WAIT_2 = 9;
inline int TCPS_TIME_WAIT = 10;
inline int TCP_STATE_CLOSED = 0;
inline int TCP_STATE_LISTEN = 1;
inline int TCP_STATE_SYN_SENT = 2;
inline int TCP_STATE_SYN_RECEIVED = 3;
inline int TCP_STATE_ESTABLISHED = 4;
inline int TCP_STATE_CLOSE_WAIT = 5;
inline int TCP_STATE_FIN_WAIT_1 = 6;
inline int TCP_STATE_CLOSING = 7;
inline int TCP_STATE_LAST_ACK = 8;
inline int TCP_STATE_FIN_WAIT_2 = 9;
inline int TCP_STATE_TIME_WAIT = 10;
inline uint16_t TH_FIN = 0x1;
inline uint16_t TH_SYN = 0x2;
inline uint16_t TH_RST = 0x4;
inline uint16_t TH_PUSH = 0x8;
inline uint16_t TH_ACK = 0x10;
inline uint16_t TH_URG = 0x20;
inline uint16_t TH_ECE = 0x40;
inline uint16_t TH_CWR = 0x80;
inline uint16_t TH_AE = 0x100;

inline string tcp_state_string[int state] =
	state == TCPS_CLOSED ? "state-closed" :
	state == TCPS_LISTEN ? "state-listen" :
	state == TCPS_SYN_SENT ? "state-syn-sent" :
	state == TCPS_SYN_RECEIVED ? "state-syn-received" :
	state == TCPS_ESTABLISHED ? "state-established" :
	state == TCPS_CLOSE_WAIT ? "state-close-wait" :
	state == TCPS_FIN_WAIT_1 ? "state-fin-wait-1" :
	state == TCPS_CLOSING ? "state-closing" :
	state == TCPS_LAST_ACK ? "state-last-ack" :
	state == TCPS_FIN_WAIT_2 ? "state-fin-wait-2" :
	state == TCPS_TIME_WAIT ? "state-time-wait" :
	"<unknown>";

translator csinfo_t < struct tcpcb *P > {
	cs_addr = (uintptr_t)P;
	cs_cid = (uint64_t)P;
	cs_pid = -1;
	cs_zoneid = -1;
};

typedef struct tcpsinfo {
	uintptr_t tcps_addr;
	int tcps_local;
	int tcps_active;
	uint16_t tcps_lport;
	uint16_t tcps_rport;
	string tcps_laddr;
	string tcps_raddr;
	int32_t tcps_state;
	uint32_t tcps_iss;
	uint32_t tcps_irs;
	uint32_t tcps_suna;
	uint32_t tcps_smax;
	uint32_t tcps_snxt;
	uint32_t tcps_rack;
	uint32_t tcps_rnxt;
	u_long tcps_swnd;
	int32_t tcps_snd_ws;
	uint32_t tcps_swl1;
	uint32_t tcps_swl2;
	uint32_t tcps_rup;
	uint32_t tcps_radv;
	u_long tcps_rwnd;
	int32_t tcps_rcv_ws;
	u_long tcps_cwnd;
	u_long tcps_cwnd_ssthresh;
	uint32_t tcps_srecover;
	uint32_t tcps_sack_fack;
	uint32_t tcps_sack_snxt;
	uint32_t tcps_rto;
	uint32_t tcps_mss;
	int tcps_retransmit;
	int tcps_srtt;
	int32_t tcps_dupacks;
	uint32_t tcps_rtttime;
	uint32_t tcps_rtseq;
	uint32_t tcps_ts_recent;
} tcpsinfo_t;

translator tcpsinfo_t < struct tcpcb *P > {
	tcps_addr = (uintptr_t)P;
	tcps_local = 0;
	tcps_active = 0;
	tcps_lport = P ? ntohs(P->t_inpcb.inp_inc.inc_ie.ie_lport) : 0;
	tcps_rport = P ? ntohs(P->t_inpcb.inp_inc.inc_ie.ie_fport) : 0;
	tcps_laddr = !P ? "<unknown>" : P->t_inpcb.inp_vflag & 1 ?
	    inet_ntoa(&P->t_inpcb.inp_inc.inc_ie.ie_dependladdr.id46_addr.ia46_addr4.s_addr) :
	    inet_ntoa6(&P->t_inpcb.inp_inc.inc_ie.ie_dependladdr.id6_addr);
	tcps_raddr = !P ? "<unknown>" : P->t_inpcb.inp_vflag & 1 ?
	    inet_ntoa(&P->t_inpcb.inp_inc.inc_ie.ie_dependfaddr.id46_addr.ia46_addr4.s_addr) :
	    inet_ntoa6(&P->t_inpcb.inp_inc.inc_ie.ie_dependfaddr.id6_addr);
	tcps_state = P ? P->t_state : 0;
	tcps_iss = P ? P->iss : 0;
	tcps_irs = P ? P->irs : 0;
	tcps_suna = P ? P->snd_una : 0;
	tcps_smax = P ? P->snd_max : 0;
	tcps_snxt = P ? P->snd_nxt : 0;
	tcps_rack = P ? P->last_ack_sent : 0;
	tcps_rnxt = P ? P->rcv_nxt : 0;
	tcps_swnd = P ? P->snd_wnd : 0;
	tcps_snd_ws = P ? P->snd_scale : 0;
	tcps_swl1 = P ? P->snd_wl1 : 0;
	tcps_swl2 = P ? P->snd_wl2 : 0;
	tcps_rup = P ? P->rcv_up : 0;
	tcps_radv = P ? P->rcv_adv : 0;
	tcps_rwnd = P ? P->rcv_wnd : 0;
	tcps_rcv_ws = P ? P->rcv_scale : 0;
	tcps_cwnd = P ? P->snd_cwnd : 0;
	tcps_cwnd_ssthresh = P ? P->snd_ssthresh : 0;
	tcps_srecover = P ? P->snd_recover : 0;
	tcps_sack_fack = P ? P->snd_fack : 0;
	tcps_sack_snxt = 0;
	tcps_rto = P ? (uint32_t)(P->t_rxtcur * 1000 / `hz) : 0;
	tcps_mss = P ? P->t_maxseg : 0;
	tcps_retransmit = P ? P->t_rxtshift > 0 : 0;
	tcps_srtt = P ? P->t_srtt : 0;
	tcps_dupacks = P ? P->t_dupacks : 0;
	tcps_rtttime = P ? P->t_rtttime : 0;
	tcps_rtseq = P ? P->t_rtseq : 0;
	tcps_ts_recent = P ? P->ts_recent : 0;
};

typedef struct tcplsinfo {
	int32_t tcps_state;	/* the state before */
} tcplsinfo_t;

translator tcplsinfo_t < int S > {
	tcps_state = S;
};

typedef struct tcpinfo {
	uint16_t tcp_sport;
	uint16_t tcp_dport;
	uint32_t tcp_seq;
	uint32_t tcp_ack;
	uint8_t tcp_offset;
	uint16_t tcp_flags;
	uint16_t tcp_window;
	uint16_t tcp_checksum;
	uint16_t tcp_urgent;
} tcpinfo_t;

translator tcpinfo_t < struct tcphdr *P > {
	tcp_sport = P ? ntohs(P->th_sport) : 0;
	tcp_dport = P ? ntohs(P->th_dport) : 0;
	tcp_seq = P ? (uint32_t)ntohl(P->th_seq) : 0;
	tcp_ack = P ? (uint32_t)ntohl(P->th_ack) : 0;
	tcp_offset = P ? P->th_off << 2 : 0;
	tcp_flags = P ? P->th_x2 << 8 | P->th_flags : 0;
	tcp_window = P ? ntohs(P->th_win) : 0;
	tcp_checksum = P ? ntohs(P->th_sum) : 0;
	tcp_urgent = P ? ntohs(P->th_urp) : 0;
};

/* A header that the kernel has turned into its own byte order. */
typedef struct tcpinfoh {
	uint16_t tcp_sport;
	uint16_t tcp_dport;
	uint32_t tcp_seq;
	uint32_t tcp_ack;
	uint8_t tcp_offset;
	uint16_t tcp_flags;
	uint16_t tcp_window;
	uint16_t tcp_checksum;
	uint16_t tcp_urgent;
} tcpinfoh_t;

translator tcpinfoh_t < struct tcphdr *P > {
	tcp_sport = P ? ntohs(P->th_sport) : 0;
	tcp_dport = P ? ntohs(P->th_dport) : 0;
	tcp_seq = P ? (uint32_t)(P->th_seq) : 0;
	tcp_ack = P ? (uint32_t)(P->th_ack) : 0;
	tcp_offset = P ? P->th_off << 2 : 0;
	tcp_flags = P ? P->th_x2 << 8 | P->th_flags : 0;
	tcp_window = P ? (P->th_win) : 0;
	tcp_checksum = P ? ntohs(P->th_sum) : 0;
	tcp_urgent = P ? P->th_urp : 0;
};
