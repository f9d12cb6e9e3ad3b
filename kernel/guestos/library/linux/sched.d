/*
 * The provider sched, of a Linux kernel.
 */
typedef struct cpuinfo {
	int cpu_id;
} cpuinfo_t;

translator cpuinfo_t < struct rq *Q > {
	cpu_id = Q->cpu;
};

provider sched {
	probe off__cpu(struct task_struct *T) : (lwpsinfo_t *T, psinfo_t *T);
	probe enqueue(struct task_struct *T, struct rq *Q) : (lwpsinfo_t *T, psinfo_t *T, cpuinfo_t *Q);
	probe dequeue(struct task_struct *T, struct rq *Q) : (lwpsinfo_t *T, psinfo_t *T, cpuinfo_t *Q);
	probe wakeup(struct task_struct *T) : (lwpsinfo_t *T, psinfo_t *T);
};
