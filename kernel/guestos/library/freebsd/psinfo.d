/*
 * What the manual calls psinfo_t and lwpsinfo_t, of a FreeBSD kernel. A member is computed when it
 * is used.
 */
typedef struct psinfo {
	int pr_nlwp;		/* threads */
	pid_t pr_pid;
	pid_t pr_ppid;
	pid_t pr_pgid;
	pid_t pr_sid;
	uid_t pr_uid;		/* real, and effective */
	uid_t pr_euid;
	gid_t pr_gid;
	gid_t pr_egid;
	uintptr_t pr_addr;
	string pr_psargs;	/* arguments, with spaces between */
	u_int pr_arglen;
	u_int pr_jailid;
} psinfo_t;

translator psinfo_t < struct proc *P > {
	pr_nlwp = P->p_numthreads;
	pr_pid = P->p_pid;
	pr_ppid = P->p_pptr ? P->p_pptr->p_pid : 0;
	pr_pgid = P->p_leader ? P->p_leader->p_pid : 0;
	pr_sid = P->p_pgrp && P->p_pgrp->pg_session ? P->p_pgrp->pg_session->s_sid : 0;
	pr_uid = P->p_ucred->cr_ruid;
	pr_euid = P->p_ucred->cr_uid;
	pr_gid = P->p_ucred->cr_rgid;
	pr_egid = P->p_ucred->cr_gid;
	pr_addr = 0;
	pr_psargs = P->p_args ? memstr((void *)P->p_args->ar_args, ' ', P->p_args->ar_length) : "";
	pr_arglen = P->p_args ? P->p_args->ar_length : 0;
	pr_jailid = P->p_ucred->cr_prison->pr_id;
};

typedef struct lwpsinfo {
	id_t pr_lwpid;
	int pr_flag;		/* td_flags */
	int pr_pri;		/* priority, as the kernel counts */
	char pr_state;
	char pr_sname;
	short pr_syscall;
	uintptr_t pr_addr;	/* its struct thread */
	uintptr_t pr_wchan;	/* what it sleeps on */
} lwpsinfo_t;

translator lwpsinfo_t < struct thread *T > {
	pr_lwpid = T->td_tid;
	pr_flag = T->td_flags;
	pr_pri = T->td_priority;
	pr_state = 0;
	pr_sname = '?';
	pr_syscall = 0;
	pr_addr = (uintptr_t)T;
	pr_wchan = (uintptr_t)T->td_wchan;
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *>(curthread->td_proc);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *>(curthread);
