/*
 * Signals of FreeBSD, signal(3), and the reasons of the end of a process.
 */
inline int SIGHUP = 1;
inline int SIGINT = 2;
inline int SIGQUIT = 3;
inline int SIGILL = 4;
inline int SIGTRAP = 5;
inline int SIGABRT = 6;
inline int SIGEMT = 7;
inline int SIGFPE = 8;
inline int SIGKILL = 9;
inline int SIGBUS = 10;
inline int SIGSEGV = 11;
inline int SIGSYS = 12;
inline int SIGPIPE = 13;
inline int SIGALRM = 14;
inline int SIGTERM = 15;
inline int SIGURG = 16;
inline int SIGSTOP = 17;
inline int SIGTSTP = 18;
inline int SIGCONT = 19;
inline int SIGCHLD = 20;
inline int SIGTTIN = 21;
inline int SIGTTOU = 22;
inline int SIGIO = 23;
inline int SIGXCPU = 24;
inline int SIGXFSZ = 25;
inline int SIGVTALRM = 26;
inline int SIGPROF = 27;
inline int SIGWINCH = 28;
inline int SIGINFO = 29;
inline int SIGUSR1 = 30;
inline int SIGUSR2 = 31;
inline int SIGTHR = 32;
inline int SIGLIBRT = 33;
inline int SIGIOT = 6;

inline int CLD_EXITED = 1;
inline int CLD_KILLED = 2;
inline int CLD_DUMPED = 3;
inline int CLD_TRAPPED = 4;
inline int CLD_STOPPED = 5;
inline int CLD_CONTINUED = 6;
