/* user_image.S: room for the user programs, which init.c reads from the disk. */
#include "machine.h"

	.bss
	.balign 4096
	.globl user_image
	.type user_image, @object
user_image:
	.skip USER_IMAGE_MAX
	.size user_image, . - user_image
