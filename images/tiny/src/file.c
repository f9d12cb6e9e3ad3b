/* file.c: file descriptors: the output, nothing, and both ends of pipes. */
#include "kernel.h"

#define CHUNK 512

static inline bool is_pipe(const struct file *f)
{
	return f->kind == FILE_PIPE_READ || f->kind == FILE_PIPE_WRITE;
}

static struct file *file_at(int fd)
{
	struct file *f;

	if (fd < 0 || fd >= FILES_MAX)
		return NULL;
	f = &current->process->files[fd];
	return f->kind == FILE_NONE ? NULL : f;
}

static void hold(const struct file *f)
{
	if (is_pipe(f))
		pipe_hold(f->pipe, f->kind == FILE_PIPE_WRITE);
}

static void drop(struct file *f)
{
	struct file old = *f;

	f->kind = FILE_NONE;
	if (is_pipe(&old))
		pipe_drop(old.pipe, old.kind == FILE_PIPE_WRITE);
}

static s64 read_chunk(const struct file *f, u64 buf, u64 n)
{
	char chunk[CHUNK];
	s64 got;

	if (f->kind == FILE_NULL)
		return 0;
	if (f->kind != FILE_PIPE_READ)
		return -EBADF;
	got = pipe_read(f->pipe, chunk, min(n, CHUNK));
	if (got > 0 && !copy_to_user(buf, chunk, got))
		return -EFAULT;
	return got;
}

/* take copies the file and holds it: another thread may close it meanwhile. */
static bool take(struct file *f, int fd)
{
	const struct file *at = file_at(fd);

	if (!at)
		return false;
	*f = *at;
	hold(f);
	return true;
}

s64 file_read(int fd, u64 buf, u64 n)
{
	struct file f;
	s64 result;

	if (!take(&f, fd))
		return -EBADF;
	result = read_chunk(&f, buf, n);
	drop(&f);
	return result;
}

static s64 write_chunk(const struct file *f, const char *chunk, u64 n)
{
	switch (f->kind) {
	case FILE_NULL:
		return n;
	case FILE_OUT:
		output('O', chunk, n);
		return n;
	case FILE_ERR:
		output('E', chunk, n);
		return n;
	case FILE_PIPE_WRITE:
		return pipe_write(f->pipe, chunk, n);
	default:
		return -EBADF;
	}
}

static s64 write_all(const struct file *f, u64 buf, u64 n)
{
	char chunk[CHUNK];

	for (u64 done = 0; done < n;) {
		u64 part = min(n - done, CHUNK);
		s64 result;

		if (!copy_from_user(chunk, buf + done, part))
			return -EFAULT;
		result = write_chunk(f, chunk, part);
		if (result < 0)
			return result;
		done += part;
	}
	return n;
}

s64 file_write(int fd, u64 buf, u64 n)
{
	struct file f;
	s64 result;

	if (!take(&f, fd))
		return -EBADF;
	result = write_all(&f, buf, n);
	drop(&f);
	return result;
}

static int free_fd(struct process *p)
{
	for (int fd = 0; fd < FILES_MAX; fd++)
		if (p->files[fd].kind == FILE_NONE)
			return fd;
	return -1;
}

s64 file_pipe(u64 addr)
{
	struct process *p = current->process;
	struct pipe *pipe;
	int fds[2];

	fds[0] = free_fd(p);
	if (fds[0] < 0)
		return -EAGAIN;
	p->files[fds[0]].kind = FILE_NULL; /* so that the next is another */
	fds[1] = free_fd(p);
	if (fds[1] < 0 || !copy_to_user(addr, fds, sizeof fds)) {
		p->files[fds[0]].kind = FILE_NONE;
		return fds[1] < 0 ? -EAGAIN : -EFAULT;
	}
	pipe = pipe_new();
	p->files[fds[0]] = (struct file){ FILE_PIPE_READ, pipe };
	p->files[fds[1]] = (struct file){ FILE_PIPE_WRITE, pipe };
	return 0;
}

s64 file_dup(int from, int to)
{
	struct file *f = file_at(from);

	if (!f || to < 0 || to >= FILES_MAX)
		return -EBADF;
	if (from == to)
		return to;
	hold(f);
	drop(&current->process->files[to]);
	current->process->files[to] = *f;
	return to;
}

s64 file_close(int fd)
{
	struct file *f = file_at(fd);

	if (!f)
		return -EBADF;
	drop(f);
	return 0;
}

void files_copy(struct process *to, struct process *from)
{
	for (int fd = 0; fd < FILES_MAX; fd++) {
		hold(&from->files[fd]);
		to->files[fd] = from->files[fd];
	}
}

void files_close(struct process *p)
{
	for (int fd = 0; fd < FILES_MAX; fd++)
		drop(&p->files[fd]);
}
