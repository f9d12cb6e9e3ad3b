/* user_image.S: the user programs, linked for themselves, in pages of ours. */
	.section .user_image, "a"
	.balign 4096
	.globl user_image
	.type user_image, @object
user_image:
	.incbin USER_BIN
	.balign 4096
	.size user_image, . - user_image
