/* Actions that the checker refuses. */
BEGIN { ustack(0); } ### "D_USTACK_FRAMES"
---
BEGIN { ustack(3, -1); } ### "D_USTACK_STRSIZE"
---
BEGIN { ustack(1, 2, 3); } ### "D_USTACK_PROTO"
---
BEGIN { x = stack(); } ### "D_OP_ACT"
---
BEGIN { trace(ustack()); } ### "D_TRACE_VOID"
---
BEGIN { a[stack()] = 1; } ### "D_OP_ACT"
---
BEGIN { @[stack()] = count(); @[ustack()] = count(); } ### "D_PROTO_ARG"
---
BEGIN { sym("x"); } ### "D_PROTO_ARG"
---
BEGIN { @[mod()] = count(); } ### "D_PROTO_LEN"
---
BEGIN { printf("%d", stack()); } ### "D_OP_ACT"
---
BEGIN { printf("%k", 1); } ### "D_PRINTF_ARG_TYPE"
