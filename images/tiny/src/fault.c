/*
 * fault.c: two tables that turn a fault in the kernel into something expected.
 * Both are looked up by the exact address of the instruction.
 */
#include "kernel.h"

extern const struct exception_entry ex_table_start[], ex_table_end[];
extern const struct bug_entry bug_table_start[], bug_table_end[];

u32 bug_count, breakpoint_count, software_count;

u64 exception_fixup(u64 pc)
{
	for (const struct exception_entry *e = ex_table_start; e < ex_table_end; e++)
		if (e->pc == pc)
			return e->fixup;
	return 0;
}

const char *bug_text(u64 pc)
{
	for (const struct bug_entry *e = bug_table_start; e < bug_table_end; e++)
		if (e->pc == pc)
			return e->text;
	return NULL;
}
