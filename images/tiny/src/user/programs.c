/* programs.c: the small programs, and the table of all of them. */
#include "user.h"

static int echo_main(int argc, char **argv)
{
	char text[512];
	u64 n = 0;

	for (int i = 1; i < argc; i++) {
		u64 length = min(strlen(argv[i]), sizeof text - 2 - n);

		if (i > 1 && n < sizeof text - 2)
			text[n++] = ' ';
		memcpy(text + n, argv[i], length);
		n += length;
	}
	text[n++] = '\n';
	return write(1, text, n) < 0;
}

static int uname_main(int argc, char **argv)
{
	char text[64];
	s64 n = call2(SYS_UNAME, (u64)text, sizeof text);

	(void)argc, (void)argv;
	if (n < 0)
		return 1;
	print(1, "%s\n", text);
	return 0;
}

static int true_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 0;
}

static int false_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	return 1;
}

static int exit_main(int argc, char **argv)
{
	(void)argc;
	return number(argv[1], 0);
}

static int cat_main(int argc, char **argv)
{
	char buf[256];
	s64 n;

	(void)argc, (void)argv;
	while ((n = read(0, buf, sizeof buf)) > 0)
		if (write(1, buf, n) < 0)
			return 1;
	return n < 0;
}

/* wc counts lines and bytes, which needs no big output to compare. */
static int wc_main(int argc, char **argv)
{
	u64 lines = 0, bytes = 0;
	char buf[64];
	s64 n;

	(void)argc, (void)argv;
	while ((n = read(0, buf, sizeof buf)) > 0)
		for (bytes += n; n > 0; n--)
			lines += buf[n - 1] == '\n';
	print(1, "%lu %lu\n", lines, bytes);
	return n < 0;
}

static int sleep_main(int argc, char **argv)
{
	(void)argc;
	return call1(SYS_SLEEP, number(argv[1], 0)) < 0;
}

static int ps_main(int argc, char **argv)
{
	struct thread_info t;

	(void)argc, (void)argv;
	print(1, "  PID   TID  PPID   UID S NAME\n");
	for (u64 i = 0; call2(SYS_THREADS, i, (u64)&t) > 0; i++)
		if (t.state)
			print(1, "%5d %5d %5d %5u %c %s\n", t.pid, t.tid, t.ppid,
			      t.uid, t.state, t.name);
	return 0;
}

static int run_checks(int group)
{
	struct check_info c;
	int failed = 0;

	for (u64 i = 0; system_call(SYS_CHECK, group, i, (u64)&c) == 0; i++) {
		if (c.failed)
			print(1, "%s: FAILED at step %d\n", c.name, c.failed);
		else
			print(1, "%s: ok\n", c.name);
		failed |= c.failed;
	}
	return failed != 0;
}

static int awkward_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	return run_checks(CHECK_AWKWARD);
}

static int shapes_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	return run_checks(CHECK_SHAPES);
}

static int power_main(int argc, char **argv)
{
	static const char *const names[] = {
		[POWER_PANIC] = "panic",
		[POWER_HANG] = "hang",
		[POWER_REBOOT] = "reboot",
		[POWER_TRIPLE] = "triple",
	};

	(void)argc;
	for (u64 i = 0; i < countof(names); i++)
		if (!strcmp(names[i], argv[0]))
			call1(SYS_POWER, i);
	return 1;
}

static int probes_main(int argc, char **argv)
{
	(void)argc;
	return call1(SYS_PROBE, number(argv[1], 1)) < 0;
}

/* race NAME: what two CPUs have done at the same time should come to nothing lost. */
static int race_main(int argc, char **argv)
{
	static const char *const names[RACES] = {
		[RACE_COUNT] = "count",
		[RACE_SESSION] = "session",
		[RACE_TRANSFER] = "transfer",
	};
	u64 i = 0;
	s64 missing;

	while (i < RACES && argc > 1 && strcmp(names[i], argv[1]))
		i++;
	if (argc < 2 || i == RACES) {
		print(2, "race count | session | transfer\n");
		return 2;
	}
	missing = call1(SYS_RACE, i);
	if (missing == -ENODEV)
		print(2, "race: there is one CPU, and two are needed\n");
	else
		print(1, "%s: %ld missing\n", names[i], missing);
	return missing != 0;
}

static int help_main(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (const struct program *p = programs; p->name; p++)
		print(1, "%s%s\n", p->name, p->help);
	return 0;
}

const struct program programs[] = {
	{ "awkward", awkward_main, ": run every awkward instruction in the kernel" },
	{ "calls", work_calls, " N: N system calls" },
	{ "cat", cat_main, ": input to output" },
	{ "echo", echo_main, " WORDS: print them" },
	{ "exit", exit_main, " N: end the shell with this status" },
	{ "false", false_main, ": status 1" },
	{ "fault", work_fault, " [KIND]: do something wrong" },
	{ "forks", work_forks, " N: N processes that compute and make system calls" },
	{ "hang", power_main, ": stop with no interrupt to come" },
	{ "help", help_main, ": this" },
	{ "memory", work_memory, " KIB: allocate, fill and sum so much" },
	{ "panic", power_main, ": the kernel panics" },
	{ "pipe", work_pipe, " N: N bytes from one thread to another" },
	{ "probes", probes_main, " N: fire the static probes for tests" },
	{ "ps", ps_main, ": the threads" },
	{ "race", race_main, " NAME: two CPUs at work, which may go wrong: count, session, transfer" },
	{ "read-bad", work_read_bad, ": system calls with bad pointers" },
	{ "reboot", power_main, ": reset the machine" },
	{ "shapes", shapes_main, ": inline functions, tail calls, jump tables, recursion" },
	{ "sleep", sleep_main, " MS: wait" },
	{ "spin", work_spin, " N: N times round a loop" },
	{ "triple", power_main, ": triple fault" },
	{ "true", true_main, ": status 0" },
	{ "uname", uname_main, ": the name of the kernel" },
	{ "wc", wc_main, ": count lines and bytes of the input" },
	{ NULL, NULL, NULL },
};
