/* tiny, the teaching kernel, as trapline knows it without this file. See images/tiny/src/kernel.h. */
inline struct thread *curthread = `current;
inline uint64_t thread_id = curthread->id;
inline int pid = curthread->pid;
inline int tid = curthread->tid;
inline int ppid = curthread->ppid;
inline uid_t uid = curthread->uid;
inline gid_t gid = curthread->gid;
inline string execname = curthread->name;
inline string switch_function = "schedule";
inline string panic_line = "tiny: panic";
