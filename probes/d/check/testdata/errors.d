/* Programs that the checker refuses, in the order of tags.go. */
BEGIN { if (1) trace(1); } ### "D_UNKNOWN if statements must be desugared first"
---
BEGIN { trace(int) } ### "D_SYNTAX"
---
BEGIN /execname/ { } ### "D_PRED_SCALAR predicate result must be of scalar type"
---
BEGIN { pid(1)(2); } ### "D_FUNC_IDENT"
---
BEGIN { nosuch(1); } ### "D_FUNC_UNDEF undefined function name: nosuch"
---
BEGIN { trace(nosuch(1)); } ### "D_FUNC_UNDEF"
---
BEGIN { trace(strlen()); } ### `D_PROTO_LEN strlen\( \) prototype mismatch: 0 args passed, 1 expected`
---
BEGIN { trace(substr("a")); } ### `D_PROTO_LEN substr\( \).*1 arg passed, 2 to 3 expected`
---
BEGIN { exit(); } ### "D_PROTO_LEN exit"
---
BEGIN { printf(); } ### "D_PROTO_LEN printf.*at least 1 expected"
---
BEGIN { @ = count(1); } ### "D_PROTO_LEN count"
---
BEGIN { @ = lquantize(arg0, 1); } ### "D_PROTO_LEN lquantize.*2 args passed, 3 to 5 expected"
---
BEGIN { a[1] = 1; a[1, 2] = 1; } ### `D_PROTO_LEN a\[ \].*2 keys passed, 1 expected`
---
BEGIN { trace(strlen(pid)); } ### "D_PROTO_ARG strlen.*argument #1"
---
BEGIN { exit("a"); } ### "D_PROTO_ARG exit"
---
BEGIN { a["x"] = 1; trace(a[1]); } ### `D_PROTO_ARG a\[ \] key #1`
---
BEGIN { @["x"] = count(); @[1] = count(); } ### `D_PROTO_ARG @\[ \] key #1`
---
BEGIN { trace(stringof(@x)); } ### "D_IDENT_UNDEF failed to resolve @x: Unknown variable name"
---
BEGIN { trace(stringof(*(int (*)[4])arg0)); } ### "D_STRINGOF_TYPE.*int \\[4\\]"
---
BEGIN { trace(sizeof (struct foo)); } ### "D_SIZEOF_TYPE"
---
BEGIN { trace(execname & 1); } ### "D_OP_INT operator & requires operands of integral type"
---
BEGIN { trace(~execname); } ### "D_OP_INT"
---
BEGIN { trace(!execname); } ### "D_OP_SCALAR"
---
BEGIN { trace(execname && 1); } ### "D_OP_SCALAR"
---
BEGIN { x = "a"; x++; } ### "D_OP_SCALAR"
---
BEGIN { trace(-execname); } ### "D_OP_ARITH"
---
BEGIN { trace(execname * 2); } ### "D_OP_ARITH"
---
BEGIN { pid = 1; } ### "D_OP_WRITE operator = can only be applied to a writable variable, not to pid"
---
BEGIN { regs[0] = 1; } ### "D_OP_WRITE"
---
BEGIN { (1 ? *(int *)1 : 2) = 1; } ### "D_OP_LVAL"
---
BEGIN { 1 = 2; } ### "D_OP_LVAL operator = requires modifiable lvalue"
---
BEGIN { ++(1 + 2); } ### `D_OP_LVAL operator \+\+`
---
BEGIN { x = 1; x = "a"; } ### `D_OP_INCOMPAT operands have incompatible types: "int" = "string"`
---
BEGIN { trace(execname == 1); } ### "D_OP_INCOMPAT"
---
BEGIN { trace((int *)0 + (int *)0); } ### "D_OP_INCOMPAT"
---
BEGIN { trace(1 ? "a" : 2); } ### `D_OP_INCOMPAT operator \?:`
---
BEGIN { s = "a"; s += "b"; } ### "D_OP_INCOMPAT"
---
BEGIN { p = (int *)0; p -= p; } ### "D_OP_INCOMPAT"
---
BEGIN { x = 1; trace(x[1]); } ### "D_DEREF_NONPTR cannot dereference non\\-pointer type: x is of type int"
---
BEGIN { trace(pid->x); } ### "D_OP_PTR"
---
BEGIN { trace(pid.x); } ### "D_OP_SOU"
---
BEGIN { trace(((int *)arg0)->x); } ### "D_OP_SOU"
---
BEGIN { trace(((struct task_struct *)arg0)->pid); } ### "D_OP_INCOMPLETE.*struct task_struct"
---
BEGIN { trace(*(struct foo *)arg0); } ### "D_OP_INCOMPLETE"
---
BEGIN { trace((struct foo *)arg0 + 1); } ### "D_OP_INCOMPLETE"
---
BEGIN { @x = count(); trace(1 + @x); } ### "D_OP_INCOMPAT operands have incompatible types: \"int\" \\+ \"aggregation\""
---
BEGIN { x = trace(1); } ### "D_OP_INCOMPAT"
---
BEGIN /exit(0)/ { } ### "D_PRED_SCALAR predicate result must be of scalar type"
---
BEGIN { trace(1 / 0); } ### "D_DIV_ZERO expression contains division by zero"
---
BEGIN { x = 1; x %= 2 - 2; } ### "D_DIV_ZERO"
---
BEGIN { trace(timestamp + (pid * (pid - (pid | (pid + (pid & (pid ^ (pid + 1)))))))); } ### "D_NOREG"
---
BEGIN { many[1, 2, 3, 4, 5, 6, 7, 8, 9] = 1; } ### "D_NOREG"
---
BEGIN /(pid + (pid + (pid + (pid + (pid + (pid + (pid + pid))))))) > 0/ {} ### "D_NOREG"
---
BEGIN { trace(*pid); } ### "D_DEREF_NONPTR"
---
BEGIN { trace(*(void *)arg0); } ### "D_DEREF_VOID"
---
BEGIN { trace(&1); } ### "D_ADDROF_LVAL"
---
BEGIN { x = 1; trace(&x); } ### "D_ADDROF_VAR"
---
BEGIN { trace((int)"a"); } ### "D_CAST_INVAL"
---
BEGIN { trace((struct foo)1); } ### "D_CAST_INVAL"
---
BEGIN { a[1] = 1; trace(a); } ### "D_IDENT_BADREF associative array a\\[ \\] may not be referenced without an index"
---
BEGIN { a[1] = 1; a = 1; } ### "D_IDENT_BADREF associative array a\\[ \\] may not be assigned without an index"
---
BEGIN { trace(args); } ### "D_IDENT_BADREF array args\\[ \\] may not be referenced without an index"
---
BEGIN { this->a[1] = 1; } ### "D_ARR_LOCAL"
---
BEGIN { @x = count(); a[@x] = 1; } ### "D_KEY_TYPE expression of type aggregation may not be used as a key: @x"
---
int x[struct foo]; ### "D_KEY_TYPE"
---
#pragma D nosuch ### "D_PRAGMA_INVAL"
BEGIN { }
---
#pragma D option nosuch=1 ### "D_PRAGMA_OPTSET failed to set option 'nosuch'"
BEGIN { }
---
#pragma D option strsize=x ### "D_PRAGMA_OPTSET.*strsize"
BEGIN { }
---
#pragma D option a b ### "D_PRAGMA_MALFORM"
BEGIN { }
---
#pragma D error stop here ### "D_PRAGERR #error: stop here"
BEGIN { }
---
BEGIN { trace($9); } ### `D_MACRO_UNDEF macro argument \$9 is not defined`
---
BEGIN { trace($nosuch); } ### `D_MACRO_UNDEF macro variable \$nosuch`
---
BEGIN,
tick-$9 { } ### `D_MACRO_UNDEF`
---
BEGIN { trace(strlen); } ### "D_IDENT_BADREF"
---
BEGIN { trace(nosuch); } ### "D_IDENT_UNDEF failed to resolve nosuch: Unknown variable name"
---
BEGIN { x = x + 1; } ### "D_IDENT_UNDEF"
---
BEGIN { trace(regs[R_NOSUCH]); } ### "D_IDENT_UNDEF"
---
BEGIN { trace(`nosuch); } ### "D_IDENT_UNDEF failed to resolve `nosuch: Unknown symbol name"
---
BEGIN { trace(`table); } ### "D_SYM_NOTYPES.*`table"
---
BEGIN /self->x/ { } ### "D_VAR_UNDEF self->x has not yet been declared or assigned"
---
BEGIN { trace(this->y); } ### "D_VAR_UNDEF this->y"
---
kinst::f: { trace(args[0]); } ### "D_ARGS_NONE.*kinst::f:"
---
BEGIN { trace(regs[999]); } ### "D_REGS_IDX index 999"
---
BEGIN { trace(regs[pid]); } ### "D_REGS_IDX"
---
BEGIN { trace((foo *)arg0); } ### "D_SYNTAX syntax error near \"foo\": there is no type of that name"
---
foo x; ### "D_SYNTAX syntax error near \"foo\": there is no type of that name"
---
BEGIN { printf("%*d", 1); } ### "D_PRINTF_ARG_PROTO"
---
BEGIN { printf("%*d"); } ### "D_PRINTF_DYN_PROTO"
---
BEGIN { printf("%*d", "a", 1); } ### "D_PRINTF_DYN_TYPE"
---
BEGIN { printf("%@d", 1); } ### "D_PRINTF_AGG_CONV"
---
BEGIN { printf("%d"); } ### `D_PRINTF_ARG_PROTO printf.*conversion #1 \(%d\) is missing`
---
BEGIN { printf("%d %s", 1, 2); } ### "D_PRINTF_ARG_TYPE.*conversion #2"
---
BEGIN { printf("%d", "a"); } ### "D_PRINTF_ARG_TYPE"
---
BEGIN { printf("%f", 1); } ### "D_PRINTF_ARG_TYPE"
---
BEGIN { @x = count(); printf("%d", @x); } ### "D_PRINTF_ARG_TYPE"
---
BEGIN { printf("hello", 1); } ### "D_PRINTF_ARG_EXTRA.*only 0 arguments required"
---
BEGIN { printf("%"); } ### "D_SYNTAX printf\\( \\) conversion \\#1 has no conversion character"
---
BEGIN { printf(execname); } ### "D_PRINTF_ARG_FMT(?s).*string constant"
---
BEGIN { printf(""); } ### "D_PRINTF_FMT_EMPTY"
---
BEGIN { printa(); } ### "D_PROTO_LEN"
---
BEGIN { printa("x"); } ### "D_PRINTA_PROTO"
---
BEGIN { printa("%d", 1); } ### "D_PRINTA_AGGARG"
---
BEGIN { printf("%hd", 1); } ### "D_PRINTF_ARG_TYPE.*conversion #1"
---
BEGIN { printf("%ld %ld", (int64_t)1, timestamp); } ### "D_PRINTF_ARG_TYPE.*conversion #2"
---
BEGIN { printf("%lx %lx %lu %llu", (int64_t)1, timestamp, timestamp, timestamp); } ### "D_PRINTF_ARG_TYPE.*conversion #4"
---
BEGIN { printf("%x %x", pid, (void *)8); } ### "D_PRINTF_ARG_TYPE.*conversion #2"
---
BEGIN { printf("%c %c", 'a', timestamp); } ### "D_PRINTF_ARG_TYPE.*conversion #2"
---
BEGIN { printf("%Y %Y", timestamp, 1); } ### "D_PRINTF_ARG_TYPE.*conversion #2"
---
BEGIN { @x = count(); printa("%@d %@s", @x); } ### "D_PRINTF_ARG_TYPE"
---
BEGIN { printf("%ls", "text"); } ### "D_PRINTF_ARG_TYPE"
---
BEGIN { printf("%lf", 1); } ### "D_SYNTAX.*%lf is not a conversion"
---
BEGIN { printa(@x); } ### "D_IDENT_UNDEF failed to resolve @x"
---
BEGIN { printa(@x[1]); } ### "D_PRINTA_AGGBAD undefined aggregation: @x"
---
BEGIN { @x[1] = count(); printa(@x[1]); } ### "D_PRINTA_AGGKEY"
---
BEGIN { @x[1] = count(); @y = count(); printa("%@d", @x, @y); } ### "D_PRINTA_AGGKEY printa\\( \\) aggregations differ in their keys: @x has 1 key, @y has "
---
BEGIN { @x[1] = count(); printa("%s %@d", @x); } ### "D_PRINTF_ARG_TYPE"
---
BEGIN { @x[1] = count(); printa("%d %d %@d", @x); } ### "D_PRINTF_ARG_PROTO"
---
BEGIN { trace(exit(0)); } ### "D_TRACE_VOID"
---
BEGIN { trace(@x); } ### "D_TRACE_AGG trace\\( \\) argument \\#1 may not be of type aggregation: @x"
---
BEGIN { stack(1, 2); } ### "D_STACK_PROTO"
---
BEGIN { stack(pid); } ### "D_STACK_SIZE"
---
BEGIN { stack(0); } ### "D_STACK_SIZE"
---
static int x; ### "D_DECL_BADCLASS"
---
int char x; ### "D_DECL_COMBO"
---
short double x; ### "D_DECL_LONGINT"
---
int *x[3][string]; ### "D_DECL_ARRSUB"
---
int x[pid]; ### "D_DECL_ARRSUB"
---
int x[1000000000]; ### "D_DECL_ARRBIG"
---
int x; string x; ### "D_DECL_IDRED identifier redeclared: x"
---
int pid; ### "D_DECL_IDRED.*built in"
---
this int x[int]; ### "D_DECL_LOCASSC"
---
void x; ### "D_DECL_VOIDOBJ"
---
BEGIN { @ = count(); @ = sum(1); } ### "D_AGG_REDEF aggregation redefined"
---
BEGIN { @ = 1; } ### "D_AGG_FUNC"
---
BEGIN { @ = strlen("a"); } ### "D_AGG_FUNC"
---
BEGIN { @ += count(); } ### "D_AGG_FUNC"
---
BEGIN { @[1][2] = count(); } ### "D_AGG_MDIM"
---
BEGIN { @x; } ### "D_IDENT_UNDEF failed to resolve @x: Unknown variable name"
---
BEGIN { x = count(); } ### "D_OP_INCOMPAT"
---
BEGIN { @ = sum("a"); } ### "D_AGG_SCALAR"
---
BEGIN { @ = quantize(); } ### "D_PROTO_LEN quantize\\( \\) prototype mismatch: 0 args passed, 1 to 2 expected"
---
BEGIN { @ = lquantize(1, pid, 2); } ### "D_LQUANT_BASETYPE"
---
BEGIN { @ = lquantize(1, 1 << 40, 2); } ### "D_LQUANT_BASEVAL"
---
BEGIN { @ = lquantize(1, 1, "a"); } ### "D_PROTO_ARG lquantize\\( \\) argument \\#3 is incompatible with prototype:"
---
BEGIN { @ = lquantize(1, 1, 1 << 40); } ### "D_LQUANT_LIMVAL"
---
BEGIN { @ = lquantize(1, 5, 2); } ### "D_LQUANT_MISMATCH"
---
BEGIN { @ = lquantize(1, 5, 20, pid); } ### "D_LQUANT_STEPTYPE"
---
BEGIN { @ = lquantize(1, 5, 20, 0); } ### "D_LQUANT_STEPTYPE lquantize\\( \\) argument \\#4 must be a positive integral constant ex"
---
BEGIN { @ = lquantize(1, 5, 20, 100); } ### "D_LQUANT_STEPLARGE"
---
BEGIN { @ = lquantize(1, 0, 1000000, 1); } ### "D_LQUANT_STEPSMALL"
---
BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 1, 10); } ### "D_LQUANT_MATCHBASE"
---
BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 0, 11); } ### "D_LQUANT_MATCHLIM"
---
BEGIN { @ = lquantize(1, 0, 10); @ = lquantize(1, 0, 10, 2); } ### "D_LQUANT_MATCHSTEP"
---
BEGIN { @ = llquantize(1, pid, 0, 6, 20); } ### "D_LLQUANT_FACTORTYPE"
---
BEGIN { @ = llquantize(1, 70000, 0, 6, 20); } ### "D_LLQUANT_FACTORVAL"
---
BEGIN { @ = llquantize(1, 10, pid, 6, 20); } ### "D_LLQUANT_LOWTYPE"
---
BEGIN { @ = llquantize(1, 10, -1, 6, 20); } ### "D_LLQUANT_LOWVAL"
---
BEGIN { @ = llquantize(1, 10, 0, pid, 20); } ### "D_LLQUANT_HIGHTYPE"
---
BEGIN { @ = llquantize(1, 10, 0, -1, 20); } ### "D_LLQUANT_HIGHVAL"
---
BEGIN { @ = llquantize(1, 10, 0, 6, pid); } ### "D_LLQUANT_NSTEPTYPE"
---
BEGIN { @ = llquantize(1, 10, 0, 6, 0); } ### "D_LLQUANT_NSTEPVAL"
---
BEGIN { @ = llquantize(1, 10, 6, 6, 20); } ### "D_LLQUANT_MAGRANGE"
---
BEGIN { @ = llquantize(1, 10, 0, 6, 5); } ### "D_LLQUANT_FACTORNSTEPS"
---
BEGIN { @ = llquantize(1, 10, 0, 6, 15); } ### "D_LLQUANT_FACTOREVEN"
---
BEGIN { @ = llquantize(1, 10, 0, 30, 20); } ### "D_LLQUANT_MAGTOOBIG"
---
BEGIN { @ = llquantize(1, 10, 0, 6, 20); @ = llquantize(1, 10, 1, 6, 20); } ### "D_LLQUANT_LOWMATCH"
---
BEGIN { @ = llquantize(1, 10, 0, 6, 20); @ = llquantize(1, 5, 0, 6, 25); } ### "D_LLQUANT_FACTORMATCH"
---
BEGIN { @ = llquantize(1, 10, 0, 6, 20); @ = llquantize(1, 10, 0, 7, 20); } ### "D_LLQUANT_HIGHMATCH"
---
BEGIN { @ = llquantize(1, 10, 0, 6, 20); @ = llquantize(1, 10, 0, 6, 10); } ### "D_LLQUANT_NSTEPMATCH"
---
/* These are fine. */
int total, *where;
self int depth;
this string name;
string names[int];
int cnt[string, int];
uint64_t stamps[uint64_t];

BEGIN
/pid != 0 && (execname == "sh" || self->depth)/
{
	total = 5;
	total += 1 + pid;
	where = (int *)arg0;
	where = 0;
	this->name = (char *)arg1;
	names[tid] = this->name;
	cnt[names[pid], 2]++;
	self->depth = self->depth > 3 ? 0 : self->depth + 1;
	implicit += 2;
	self->arr[execname, pid] = timestamp;
	@a[execname] = count();
	@a[(char *)arg0] = count();
	@b[execname] = avg(arg0);
	@q = quantize(arg0, 2);
	@l = lquantize(arg0, 0, 100, 10);
	@m = llquantize(arg0, 10, 0, 6, 20);
	@d = stddev(pid);
	printa("%s %@d %@d\n", @a, @b);
	printa(@a);
	printf("%d %s %p %x %c %Y %a\n", pid, (char *)arg0, arg1, caller, 'a', walltimestamp, caller);
	printf("100%%\n");
	stack(); stack(3);
	trace($1 + $target);
	trace($$2);
	trace(regs[R_RAX]);
	trace(0 == where);
	trace(arg0 == (uint64_t)where);
	trace(*where + where[1]);
	exit(0);
}

END
