/*
 * check.c: the tables of the kernel's checks of itself, filled by the linker:
 * awkward_*.S of the architecture, and the shapes of shapes.c.
 */
#include "kernel.h"

extern const struct check check_awkward_start[], check_awkward_end[];
extern const struct check check_shapes_start[], check_shapes_end[];

static const struct {
	const struct check *start, *end;
} groups[CHECK_GROUPS] = {
	[CHECK_AWKWARD] = { check_awkward_start, check_awkward_end },
	[CHECK_SHAPES] = { check_shapes_start, check_shapes_end },
};

const struct check *check_at(u64 group, u64 index)
{
	if (group >= CHECK_GROUPS)
		return NULL;
	if (index >= (u64)(groups[group].end - groups[group].start))
		return NULL;
	return groups[group].start + index;
}
