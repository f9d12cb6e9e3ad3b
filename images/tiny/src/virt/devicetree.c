/*
 * devicetree.c: reads the flattened device tree that the loader left in memory
 * (Devicetree Specification, chapter 5). All numbers in it begin with the high
 * byte. Addresses and sizes are taken to have two cells each, as on `virt`.
 *
 *	header | ... | BEGIN_NODE name  PROP size name data ...  BEGIN_NODE ... END_NODE END_NODE END
 */
#include "virt.h"

#define MAGIC 0xd00dfeed

enum { BEGIN_NODE = 1, END_NODE = 2, PROP = 3, NOP = 4, END = 9 };
enum { HEADER_MAGIC, HEADER_SIZE, HEADER_NODES, HEADER_NAMES };

static const char *tree;

u32 dt_cell(const void *data)
{
	const u8 *p = data;

	return (u32)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

u64 dt_address(const void *data)
{
	return (u64)dt_cell(data) << 32 | dt_cell((const char *)data + 4);
}

static inline u32 header(int index)
{
	return dt_cell(tree + 4 * index);
}

void dt_open(u64 pa)
{
	tree = phys_to_virt(pa);
	if (header(HEADER_MAGIC) != MAGIC)
		tree = NULL;
}

u64 dt_size(void)
{
	return tree ? header(HEADER_SIZE) : 0;
}

/* A token or another cell of the nodes, and behind it. */
static u32 next_cell(u32 *cursor)
{
	const char *nodes = tree + header(HEADER_NODES);
	u32 value = dt_cell(nodes + *cursor);

	*cursor += 4;
	return value;
}

static const char *next_bytes(u32 *cursor, u32 size)
{
	const char *data = tree + header(HEADER_NODES) + *cursor;

	*cursor += (size + 3) & ~3u;
	return data;
}

static void keep(struct dt_node *n, const char *name, struct dt_value value)
{
	if (!strcmp(name, "compatible"))
		n->compatible = value;
	else if (!strcmp(name, "status"))
		n->status = value;
	else if (!strcmp(name, "reg"))
		n->reg = value;
	else if (!strcmp(name, "bootargs"))
		n->bootargs = value;
	else if (!strcmp(name, "timebase-frequency"))
		n->frequency = value;
}

/* The properties of a node stand before the nodes below it. */
static void read_properties(u32 *cursor, struct dt_node *n)
{
	for (;;) {
		u32 before = *cursor, token = next_cell(cursor);
		u32 size, name;

		if (token == NOP)
			continue;
		if (token != PROP) {
			*cursor = before;
			return;
		}
		size = next_cell(cursor);
		name = next_cell(cursor);
		keep(n, tree + header(HEADER_NAMES) + name,
		     (struct dt_value){ next_bytes(cursor, size), size });
	}
}

bool dt_next(u32 *cursor, struct dt_node *n)
{
	*n = (struct dt_node){ 0 };
	if (!tree)
		return false;
	for (;;) {
		switch (next_cell(cursor)) {
		case BEGIN_NODE:
			n->name = tree + header(HEADER_NODES) + *cursor;
			next_bytes(cursor, strlen(n->name) + 1);
			read_properties(cursor, n);
			return true;
		case END:
			return false;
		}
	}
}

/* One of the strings of the value is this one. */
static bool has_string(struct dt_value v, const char *want)
{
	const char *s = v.data;

	for (u32 i = 0; i < v.size; i += strlen(s + i) + 1)
		if (!strcmp(s + i, want))
			return true;
	return false;
}

static bool usable(const struct dt_node *n, const char *compatible)
{
	return has_string(n->compatible, compatible) && n->reg.size >= 8 &&
	       (!n->status.data || has_string(n->status, "okay"));
}

/* The device whose address is the lowest one above; false: there is none. */
static bool find_above(const char *compatible, u64 above, struct dt_node *found)
{
	struct dt_node n;
	u64 best = 0;

	for (u32 cursor = 0; dt_next(&cursor, &n);) {
		u64 at = usable(&n, compatible) ? dt_address(n.reg.data) : 0;

		if (at > above && (!best || at < best)) {
			best = at;
			*found = n;
		}
	}
	return best;
}

u64 device_base(const char *compatible, int index, int range)
{
	struct dt_node n = { 0 };
	u64 base = 0;

	for (int i = 0; i <= index; i++) {
		if (!find_above(compatible, base, &n))
			return 0;
		base = dt_address(n.reg.data);
	}
	return (u32)range * 16 + 8 <= n.reg.size ? dt_address((const char *)n.reg.data + range * 16) : 0;
}
