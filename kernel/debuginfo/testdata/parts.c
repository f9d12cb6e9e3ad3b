/* notify is split by gcc -O3: its test is inlined into its callers, and then the rest too. */

struct file { int mode; long mask; struct file *up; };

__attribute__((noipa)) int hook(int n) { return n; }
__attribute__((noipa)) int deliver(struct file *f, int mask) { return f->mode + mask; }

static int notify(struct file *f, int mask)
{
	if (f->mode & 1)
		return 0;
	struct file *up = f->up;
	if (up->mode & 2) {
		mask |= 4;
		if (!(up->mask & 8))
			return deliver(up, mask + 1);
	}
	return deliver(up, mask);
}

int first(struct file *f) { if (hook(1) > 0) notify(f, 2); return 0; }
int second(struct file *f) { if (hook(2) > 0) notify(f, 2); return 1; }
int third(struct file *f) { if (hook(3) > 0) notify(f, 5); return 2; }
void _start(void) { }
