/* user_start.S: the header of the user image, and where it begins to run. */
	.section .header, "a"
	.globl user_header
user_header:
	.ascii "TINYUSER"
	.quad user_start, user_text_end, user_data_end, user_bss_end

	.text
	.globl user_start
	.type user_start, %function
user_start:
	mov x29, xzr
	bl shell		/* the line is in x0 */
	bl exit
	.size user_start, . - user_start
