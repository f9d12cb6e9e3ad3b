/*
 * Sockets of FreeBSD, socket(2): families of addresses, and types.
 */
inline int AF_UNSPEC = 0;
inline int AF_LOCAL = 1;
inline int AF_UNIX = 1;
inline int AF_INET = 2;
inline int AF_SNA = 11;
inline int AF_APPLETALK = 16;
inline int AF_ROUTE = 17;
inline int AF_LINK = 18;
inline int AF_IPX = 23;
inline int AF_INET6 = 28;
inline int AF_NETGRAPH = 32;
inline int AF_BLUETOOTH = 36;
inline int AF_INET_SDP = 40;
inline int AF_INET6_SDP = 42;

inline int SOCK_STREAM = 1;
inline int SOCK_DGRAM = 2;
inline int SOCK_RAW = 3;
inline int SOCK_RDM = 4;
inline int SOCK_SEQPACKET = 5;
