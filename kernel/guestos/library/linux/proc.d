/*
 * The provider proc, of a Linux kernel.
 */
provider proc {
	probe create(struct task_struct *T) : (psinfo_t *T);
	probe exec(char *path) : (char *path);
	probe exit(int reason) : (int reason);
	probe lwp__create(struct task_struct *T) : (lwpsinfo_t *T, psinfo_t *T);
	probe signal__send(struct task_struct *T, int sig) : (lwpsinfo_t *T, psinfo_t *T, int sig);
	probe signal__discard(struct task_struct *T, int sig) : (lwpsinfo_t *T, psinfo_t *T, int sig);
	probe signal__handle(int sig) : (int sig);
};
