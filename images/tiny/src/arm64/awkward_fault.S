/* awkward_fault.S: instructions that fault, as expected; text that changes. */
#include "awkward.h"

#define UNMAPPED 0xfffff00000000000
#define ALIAS (DIRECT_BASE - KERNEL_BASE) /* from text to its writable alias */

	.text
AWKWARD page_fault
	ldr x0, =UNMAPPED
	mov x20, x0
	mov x1, #5
	FAULTS ldr x1, [x0]
	IS x1, 5
	FAULTS str x1, [x0]
	FAULTS ldrb w1, [x0, #3]
	FAULTS ldr x1, [x0], #8		/* the base stays */
	EQUAL x0, x20
	FAULTS str x1, [x0, #-8]!
	EQUAL x0, x20
	FAULTS ldp x1, x2, [x0], #16
	EQUAL x0, x20
	FAULTS ldp x0, x1, [x0]
	EQUAL x0, x20
	FAULTS stp x1, x2, [x0, #-16]!
	EQUAL x0, x20
	FAULTS ldxr x1, [x0]
	FAULTS ldar x1, [x0]
	FAULTS dc zva, x0
	IS x1, 5
	ldr x0, =tiny_banner
	FAULTS strb w1, [x0]		/* read-only */
	ldr x0, =awk_page_fault
	FAULTS str w1, [x0]
	ldr x0, =image_end
	FAULTS ldur x1, [x0, #-4]	/* half of it is good */
	IS x1, 5
DONE page_fault

/* What is near the pc can be out of reach, too. */
AWKWARD literal_fault
	mov x0, #5
	FAULTS ldr x0, . + 0xffffc
	IS x0, 5
	FAULTS ldrsw x0, . + 0xffffc
	IS x0, 5
DONE literal_fault

/* The handler steps over udf if the bug table has it. */
AWKWARD invalid_opcode
	adrp x1, bug_count
	add x1, x1, :lo12:bug_count
	ldr w20, [x1]
1:	udf #2
	.pushsection .bug_table, "a"
	.balign 8
	.quad 1b, .Lbug_expected
	.popsection
	.pushsection .rodata
.Lbug_expected:
	.asciz "expected by invalid_opcode"
	.popsection
	ldr w2, [x1]
	add w20, w20, #1
	EQUAL w2, w20
	FAULTS udf #3
	FAULTS .inst 0xffffffff
	FAULTS mrs x0, vbar_el2		/* of a higher level */
DONE invalid_opcode

/* The handler leaves the pc it was told in x0. */
AWKWARD breakpoint
	adrp x1, breakpoint_count
	add x1, x1, :lo12:breakpoint_count
	ldr w20, [x1]
1:	brk #0x5a5
	ldr x2, =1b
	EQUAL x0, x2
2:	brk #0
	ldr x2, =2b
	EQUAL x0, x2
	ldr w2, [x1]
	add w20, w20, #2
	EQUAL w2, w20
DONE breakpoint

/* ---- text that is rewritten, through its alias in the direct map ---- */

FUNC awk_rewritten
	mov w0, #1
	ret
END awk_rewritten

FUNC awk_switched
	nop			/* or: b 1f */
	mov w0, #1
	ret
1:	mov w0, #2
	ret
END awk_switched

.macro REWRITE insn, function
	ldr x1, =ALIAS
	ldr x2, =\function
	add x1, x1, x2
	ldr w3, =\insn
	str w3, [x1]
	dc cvau, x2
	dsb ish
	ic ivau, x2
	dsb ish
	isb
	bl \function
.endm

AWKWARD rewrite
	bl awk_rewritten
	IS x0, 1
	REWRITE 0x52800040, awk_rewritten	/* mov w0, #2 */
	mov x20, x0
	REWRITE 0x52800020, awk_rewritten
	IS x20, 2
	IS x0, 1
	REWRITE 0x14000003, awk_switched	/* b 1f */
	mov x20, x0
	REWRITE 0xd503201f, awk_switched
	IS x20, 2
	IS x0, 1
DONE rewrite
