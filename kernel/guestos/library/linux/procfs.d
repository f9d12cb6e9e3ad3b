/*
 * What the manual calls psinfo_t and lwpsinfo_t, of a Linux kernel. A member is computed when it
 * is used.
 */
typedef struct psinfo {
	int pr_nlwp;		/* threads of the process */
	pid_t pr_pid;
	pid_t pr_ppid;
	uid_t pr_uid;
	uid_t pr_euid;
	gid_t pr_gid;
	gid_t pr_egid;
	uintptr_t pr_addr;	/* task_struct of the thread */
	string pr_fname;	/* name of the program */
	uint64_t pr_start;	/* ns since the boot */
} psinfo_t;

translator psinfo_t < struct task_struct *T > {
	pr_nlwp = T->signal->nr_threads;
	pr_pid = T->tgid;
	pr_ppid = T->real_parent->tgid;
	pr_uid = T->cred->uid.val;
	pr_euid = T->cred->euid.val;
	pr_gid = T->cred->gid.val;
	pr_egid = T->cred->egid.val;
	pr_addr = (uintptr_t)T;
	pr_fname = stringof(T->group_leader->comm);
	pr_start = T->group_leader->start_time;
};

typedef struct lwpsinfo {
	id_t pr_lwpid;		/* thread */
	uintptr_t pr_addr;	/* its task_struct */
	uint_t pr_flag;
	int pr_pri;		/* priority, as the kernel counts */
	int pr_nice;
	string pr_name;
	uint64_t pr_stime;	/* ns in the kernel and in user mode, as accounted */
	uint64_t pr_utime;
} lwpsinfo_t;

translator lwpsinfo_t < struct task_struct *T > {
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_flag = T->flags;
	pr_pri = T->prio;
	pr_nice = T->static_prio - 120;
	pr_name = stringof(T->comm);
	pr_stime = T->stime;
	pr_utime = T->utime;
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *>(curthread);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *>(curthread);

inline int CLD_EXITED = 1;	/* reasons of proc:::exit */
inline int CLD_KILLED = 2;
inline int CLD_DUMPED = 3;
