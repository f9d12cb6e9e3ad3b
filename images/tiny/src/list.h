/*
 * list.h: a circular doubly linked list. The node lies inside the object
 * (container_of leads back to it); the head is a node without an object.
 * An object that is in no list has a node that points to itself.
 */
#pragma once

#include "types.h"

struct list {
	struct list *next, *prev;
};

#define LIST_INIT(name) { &(name), &(name) }

static inline void list_init(struct list *node)
{
	node->next = node->prev = node;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

static inline void list_append(struct list *head, struct list *node)
{
	node->prev = head->prev;
	node->next = head;
	head->prev->next = node;
	head->prev = node;
}

static inline void list_remove(struct list *node)
{
	node->prev->next = node->next;
	node->next->prev = node->prev;
	list_init(node);
}

/* list_pop removes the first node of the list; NULL when there is none. */
static inline struct list *list_pop(struct list *head)
{
	struct list *node = head->next;

	if (list_empty(head))
		return NULL;
	list_remove(node);
	return node;
}
