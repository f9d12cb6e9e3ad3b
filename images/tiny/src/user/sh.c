/*
 * sh.c: the shell. A line is pipelines with ; between them, a pipeline is
 * commands with | between them, a command is words; quotes '' and "" keep
 * blanks and ; and | in a word. Each command runs in a process of its own.
 */
#include "user.h"

#define WORDS_MAX 32
#define TEXT_MAX 4096

struct command {
	int argc;
	char *argv[WORDS_MAX + 1];
	char end; /* what came after it: | ; or 0 */
};

static char text[TEXT_MAX]; /* the words of the command, one after another */

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static inline bool is_end(char c)
{
	return c == 0 || c == ';' || c == '|';
}

/* Copies one word without its quotes; *to moves behind its final 0. */
static const char *parse_word(const char *p, char **to)
{
	char quote = 0;

	for (; *p && (quote || (!is_blank(*p) && !is_end(*p))); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"')
			quote = quote ? 0 : *p;
		else if (*to < text + TEXT_MAX - 1)
			*(*to)++ = *p;
	}
	*(*to)++ = 0;
	return p;
}

static const char *parse_command(const char *p, struct command *c)
{
	char *to = text;

	c->argc = 0;
	for (;;) {
		while (is_blank(*p))
			p++;
		if (is_end(*p) || c->argc == WORDS_MAX)
			break;
		c->argv[c->argc++] = to;
		p = parse_word(p, &to);
	}
	c->argv[c->argc] = NULL;
	while (!is_end(*p))
		p++;
	c->end = *p;
	return *p ? p + 1 : p;
}

static const struct program *find(const char *name)
{
	for (const struct program *p = programs; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

static void move_fd(int from, int to)
{
	if (from == to)
		return;
	call2(SYS_DUP, from, to);
	call1(SYS_CLOSE, from);
}

/* In the child: never returns. */
static void run_child(struct command *c, int in, int out, int unused)
{
	const struct program *p = find(c->argv[0]);

	if (unused >= 0)
		call1(SYS_CLOSE, unused);
	move_fd(in, 0);
	move_fd(out, 1);
	call1(SYS_SETNAME, (u64)c->argv[0]);
	if (p)
		exit(p->main(c->argc, c->argv));
	print(2, "sh: %s: not found\n", c->argv[0]);
	exit(127);
}

static int wait_for(s64 last, int children)
{
	int status = 0, result = 1;

	while (children > 0) {
		s64 pid = call1(SYS_WAIT, (u64)&status);

		if (pid < 0)
			break;
		if (pid == last)
			result = status;
		children--;
	}
	return result;
}

/* Runs the pipeline that begins at p, returns what is behind it. */
static const char *run_pipeline(const char *p, int *status)
{
	struct command c;
	int in = 0, children = 0;
	s64 pid = -1;

	do {
		int fds[2] = { -1, 1 };

		p = parse_command(p, &c);
		if (c.argc == 0)
			return p;
		if (!children && c.end != '|' && !strcmp(c.argv[0], "exit"))
			exit(number(c.argv[1], *status));
		if (c.end == '|')
			call1(SYS_PIPE, (u64)fds);
		pid = call0(SYS_FORK);
		if (pid == 0)
			run_child(&c, in, fds[1], fds[0]);
		if (in)
			call1(SYS_CLOSE, in);
		if (c.end == '|')
			call1(SYS_CLOSE, fds[1]);
		in = fds[0];
		if (pid < 0)
			print(2, "sh: cannot fork: %ld\n", pid);
		else
			children++;
	} while (c.end == '|');
	*status = wait_for(pid, children);
	return p;
}

int shell(const char *line)
{
	int status = 0;

	while (*line)
		line = run_pipeline(line, &status);
	return status;
}
