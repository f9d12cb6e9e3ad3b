/* Actions that the checker refuses. */
BEGIN { ustack(0); } ### "D_USTACK_FRAMES"
---
BEGIN { ustack(3, -1); } ### "D_USTACK_STRSIZE"
---
BEGIN { ustack(1, 2, 3); } ### "D_USTACK_PROTO"
---
BEGIN { x = stack(); } ### "D_CG_EXPR"
---
BEGIN { trace(ustack()); } ### "D_CG_EXPR"
---
BEGIN { a[stack()] = 1; } ### "D_CG_EXPR"
---
BEGIN { @[stack()] = count(); @[sym(1)] = count(); } ### "D_PROTO_ARG"
---
BEGIN { sym("x"); } ### "D_PROTO_ARG"
---
BEGIN { @[mod()] = count(); } ### "D_PROTO_LEN"
---
BEGIN { printf("%d", stack()); } ### "D_PRINTF_ARG_TYPE printf\\( \\) argument \\#2 is incompatible with conversion \\#1 proto"
---
BEGIN { printf("%k", 1); } ### "D_PRINTF_ARG_TYPE"
---
BEGIN { clear(); } ### "D_CLEAR_PROTO"
---
BEGIN { clear(1); } ### "D_CLEAR_AGGARG"
---
BEGIN { clear(@x[1]); } ### "D_CLEAR_AGGBAD"
---
BEGIN { clear(@x); } ### "D_IDENT_UNDEF"
---
BEGIN { @ = count(); trunc(@, 1, 2); } ### "D_TRUNC_PROTO"
---
BEGIN { trunc(1); } ### "D_TRUNC_AGGARG"
---
BEGIN { trunc(@x[1]); } ### "D_TRUNC_AGGBAD"
---
BEGIN { trunc(@x); } ### "D_IDENT_UNDEF"
---
BEGIN { @ = count(); trunc(@, execname); } ### "D_TRUNC_SCALAR"
---
BEGIN { @ = count(); normalize(@); } ### "D_NORMALIZE_PROTO"
---
BEGIN { normalize(1, 1); } ### "D_NORMALIZE_AGGARG"
---
BEGIN { normalize(@x[1], 1); } ### "D_NORMALIZE_AGGBAD"
---
BEGIN { normalize(@x, 1); } ### "D_IDENT_UNDEF"
---
BEGIN { @ = count(); normalize(@, execname); } ### "D_NORMALIZE_SCALAR"
---
BEGIN { denormalize(1); } ### "D_NORMALIZE_AGGARG"
---
BEGIN { commit(1); commit(1); } ### "D_COMM_COMM"
---
BEGIN { trace(1); commit(1); } ### "D_COMM_DREC"
---
BEGIN { speculate(1); speculate(1); } ### "D_SPEC_SPEC"
---
BEGIN { commit(1); speculate(1); } ### "D_SPEC_COMM"
---
BEGIN { trace(1); speculate(1); } ### "D_SPEC_DREC"
---
BEGIN { @ = count(); speculate(1); } ### "D_SPEC_DREC"
---
BEGIN { commit(1); @ = count(); } ### "D_AGG_COMM"
---
BEGIN { speculate(1); @ = count(); } ### "D_AGG_SPEC"
---
BEGIN { speculate(1); exit(0); } ### "D_EXIT_SPEC"
---
BEGIN { commit(1); trace(1); } ### "D_DREC_COMM"
---
BEGIN { commit(1); exit(0); } ### "D_DREC_COMM"
---
BEGIN { speculate(); } ### "D_PROTO_LEN"
---
BEGIN { commit("a"); } ### "D_PROTO_ARG"
---
BEGIN { discard(1, 2); } ### "D_PROTO_LEN"
---
BEGIN { speculation(1); } ### "D_PROTO_LEN"
---
BEGIN { x = 1; self->y = speculation(); speculate(self->y); trace(1); commit(self->y); x = 2; discard(3); }
---
BEGIN { speculate(1); panic(); } ### "D_ACT_SPEC"
---
BEGIN { speculate(1); system("x"); } ### "D_ACT_SPEC"
---
BEGIN { tracemem("x", 1); } ### "D_TRACEMEM_ADDR"
---
BEGIN { tracemem(1, 0); } ### "D_TRACEMEM_SIZE"
---
BEGIN { tracemem(1, pid); } ### "D_TRACEMEM_SIZE"
---
BEGIN { tracemem(1, 1, "x"); } ### "D_TRACEMEM_DYNSIZE tracemem\\( \\) argument \\#3, the size that counts, must be of scalar"
---
BEGIN { tracemem(1); } ### "D_PROTO_LEN"
---
BEGIN { freopen("", 1); } ### "D_FREOPEN_INVALID"
---
BEGIN { system(); } ### "D_PROTO_LEN"
---
BEGIN { system("%d"); } ### "D_PRINTF_ARG_PROTO system"
---
BEGIN { freopen(execname); } ### "D_PRINTF_ARG_FMT"
---
BEGIN { setopt(); } ### "D_PROTO_LEN"
---
BEGIN { setopt(1); } ### "D_PROTO_ARG"
---
BEGIN { ftruncate(1); } ### "D_PROTO_LEN"
---
BEGIN { stop(1); } ### "D_PROTO_LEN"
---
BEGIN { raise(); } ### "D_PROTO_LEN"
---
BEGIN { raise("x"); } ### "D_PROTO_ARG"
---
BEGIN { chill("x"); } ### "D_PROTO_ARG"
---
BEGIN { breakpoint(1); } ### "D_PROTO_LEN"
---
BEGIN { panic(1); } ### "D_PROTO_LEN"
---
BEGIN { trace(chill(1)); } ### "D_TRACE_VOID"
---
BEGIN { x = bcopy((void *)1, (void *)2, 3); } ### "D_OP_INCOMPAT"
---
BEGIN { alloca("x"); } ### "D_PROTO_ARG"
---
BEGIN { bcopy(1, alloca(1), 1); } ### "D_PROTO_ARG"
---
BEGIN { copyin(1); } ### "D_PROTO_LEN"
---
BEGIN { copyinto(1, 1, 1); } ### "D_PROTO_ARG"
---
BEGIN { copyout(1, 1, 1); } ### "D_PROTO_ARG"
---
BEGIN { copyoutstr(1, 1, 1); } ### "D_PROTO_ARG"
---
BEGIN { strtok("x"); } ### "D_PROTO_LEN"
---
BEGIN { strtok(1, "x"); } ### "D_PROTO_ARG"
---
BEGIN { strtok("x", NULL); } ### "D_PROTO_ARG"
---
BEGIN { json("x"); } ### "D_PROTO_LEN"
---
BEGIN { inet_ntoa(1); } ### "D_PROTO_ARG"
---
BEGIN { inet_ntop(2); } ### "D_PROTO_LEN"
---
BEGIN { rand(1); } ### "D_PROTO_LEN"
---
BEGIN { htons("x"); } ### "D_PROTO_ARG"
---
BEGIN { strtoll(1); } ### "D_PROTO_ARG"
---
BEGIN { cleanpath(1); } ### "D_PROTO_ARG"
---
BEGIN { progenyof("x"); } ### "D_PROTO_ARG"
---
BEGIN { mutex_owned(1); } ### "D_PROTO_ARG mutex_owned\\( \\) argument \\#1 is incompatible with prototype:"
---
BEGIN { msgsize(1); } ### "D_FUNC_UNDEF msgsize.*STREAMS"
---
BEGIN { pcap(1); } ### "D_FUNC_UNDEF pcap"
---
BEGIN { uregs[1] = 2; } ### "D_OP_WRITE"
---
BEGIN { trace(uregs[99]); } ### "D_REGS_IDX"
---
BEGIN { trace(uregs); } ### "D_IDENT_BADREF array uregs\\[ \\] may not be referenced without an index"
---
struct s { int a : 3; string t; }; BEGIN { ((struct s *)0)->t = "x"; } ### "D_OP_LVAL"
---
BEGIN { print(); } ### "D_PROTO_LEN"
---
BEGIN { print(1, 2); } ### "D_PROTO_LEN"
---
BEGIN { printm(1); } ### "D_PROTO_LEN"
---
BEGIN { printm(0, (void *)1); } ### "D_PROTO_ARG"
---
BEGIN { printm(1, 1); } ### "D_PROTO_ARG"
---
BEGIN { x = 1; x(2); } ### "D_FUNC_IDKIND"
---
BEGIN { @ = llquantize(pid, 1, 0, 3, 10); } ### "D_LLQUANT_FACTORSMALL"
---
BEGIN { trace($3); } ### "D_MACRO_UNDEF"
