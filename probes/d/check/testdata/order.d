/* What comes first when more than one thing is wrong, and what an operand without a value is. */
BEGIN { strlen(trace()); } ### "D_PROTO_LEN trace"
---
BEGIN { printf("%n", sizeof (nosuch)); } ### "D_IDENT_UNDEF"
---
BEGIN { print(1, $9); } ### "D_MACRO_UNDEF"
---
BEGIN { @x[1][2] = nosuch(1); } ### "D_FUNC_UNDEF"
---
BEGIN { exit(nosuch1) } BEGIN /nosuch2/ { } ### "D_IDENT_UNDEF failed to resolve nosuch1"
---
BEGIN /nosuch2/ { exit(nosuch1); } ### "D_IDENT_UNDEF failed to resolve nosuch1"
---
BEGIN /x/ { x = 1; }
---
BEGIN /++x/ { trace(x); }
---
BEGIN /(this->s = "text") != "" && y/ { trace(this->s); } ### "D_IDENT_UNDEF failed to resolve y"
---
BEGIN { @x = count(); clear(sum(1)); } ### "D_CLEAR_AGGARG(?s).*argument: aggregating function"
---
BEGIN { @x = count(); trunc(@x, @x); } ### "D_TRUNC_SCALAR"
---
BEGIN { @x = count(); denormalize(pid); } ### "D_NORMALIZE_AGGARG(?s).*argument: pid_t"
---
BEGIN { ~exit(1); } ### "D_OP_INT"
---
BEGIN { x = 1 * printf("x"); } ### "D_OP_ARITH"
---
BEGIN { x = stringof(exit(1)); } ### "D_STRINGOF_TYPE"
---
BEGIN { x = 1; x += trace(1); } ### "D_OP_INCOMPAT"
---
BEGIN { x += trace(1); } ### "D_VAR_UNDEF"
---
BEGIN { x = 1; x += alloca(1); } ### "D_OP_VFPTR"
---
BEGIN { x = 1 ? exit(0) : exit(1); } ### "D_OP_ACT"
---
BEGIN { trace(1), trace(2); } ### "D_OP_ACT operator ,"
---
BEGIN { @x = count(); y = (@x, 1); } ### "D_OP_DYN operator ,"
---
BEGIN { @x = count(); y = 1; y = @x; } ### "D_OP_INCOMPAT"
---
BEGIN { @x = count(); trace(&@x); } ### "D_ADDROF_VAR"
---
BEGIN { @x = count(); @x; } ### "D_AGG_NULL"
---
BEGIN { @x[1]; } ### "D_AGG_NULL"
---
BEGIN { @x = count(); print(@x); } ### "D_PRINT_AGG"
---
BEGIN { print((void)0); } ### "D_PRINT_VOID"
---
BEGIN { print(stack()); } ### "D_CG_EXPR"
---
BEGIN { trace((void)pid); } ### "D_TRACE_VOID"
---
BEGIN { @x[(void)1] = count(); } ### "D_KEY_TYPE"
---
BEGIN { printf("%d", exit(1)); } ### "D_PRINTF_ARG_TYPE(?s).*argument: void"
---
BEGIN { printf("%2$d", 1); } ### "D_SYNTAX.*position"
---
BEGIN { printf("%?d", 1, 2); } ### "D_PRINTF_ARG_EXTRA"
---
BEGIN { printa(pid); } ### "D_PRINTA_AGGARG(?s).*argument #1.*argument: pid_t"
---
BEGIN { tracemem(1, 2, 3, 4); } ### "D_TRACEMEM_ARGS"
---
BEGIN { tracemem("x", 1, execname); } ### "D_TRACEMEM_ADDR"
---
BEGIN { tracemem(1, "x"); } ### "D_PROTO_ARG(?s).*prototype: size_t.*argument: string"
---
BEGIN { rw_read_held(); } ### "D_PROTO_LEN"
---
BEGIN { sx_shared_held("x"); } ### "D_PROTO_ARG(?s).*struct sx \\*.*argument: string"
---
BEGIN { speculate(1); copyoutstr("x", arg0, 2); } ### "D_ACT_SPEC"
---
BEGIN { @x = lquantize(execname, execname, 1); } ### "D_PROTO_ARG(?s).*argument #2.*int32_t"
---
BEGIN { @x = lquantize(1, 2, pid); } ### "D_LQUANT_LIMTYPE"
---
BEGIN { @x = lquantize(1, 2, 3, 65536); } ### "D_LQUANT_STEPVAL"
---
BEGIN { @x[1] = count(); @y["k"] = count(); printa("%@d %@d", @x, @y); } ### "D_PRINTA_AGGPROTO"
---
int a[2]; BEGIN /a/ { } ### "D_PRED_SCALAR"
---
BEGIN { @x = quantize(execname, 1); } ### "D_AGG_SCALAR"
---
BEGIN { @x = quantize(1, 2, 3); } ### "D_PROTO_LEN"
---
int a[2]; struct s { int x; } v; BEGIN { t[v] = 1; t[a] = 2; } ### "D_PROTO_ARG(?s).*prototype: struct s.*key: int"
---
int x[void]; ### "D_DECL_PROTO_TYPE"
---
int f(int a[int]); ### "D_DECL_PROTO_TYPE"
---
int f(void nothing); ### "D_DECL_PROTO_NAME"
---
int f(int, void); ### "D_DECL_PROTO_VOID"
---
struct b { int : 2; float f : 1; }; ### "D_DECL_BFTYPE"
---
enum c { P = 1, Q, P }; ### "D_UNKNOWN.*'P'"
---
int y; typedef int y; ### "D_DECL_IDRED"
---
BEGIN { x = (short long)1; } ### "D_UNKNOWN"
---
/* These are fine. */
float f; double d; long double ld; typedef double real;
struct both { int x; }; union both { int x; }; enum both { NEITHER };
extern int many[], huge[5000][5000][50]; extern int kernel_function(struct both *, ...);
this plain; self other, another;
int array[4]; char text[8]; string s;
struct point { int x, y; } pt;
inline struct point same = pt;
translator struct point < int N > { x = N; x = 2; };
translator struct both < struct point P > { x = ((struct point)P).y; };
BEGIN { printf("%f %?x", d, sizeof (ld) + sizeof (real)); trace(offsetof(struct point, y)); }
BEGIN /array[0]/ { p = &array[1]; q = array; q[1] = p[0]; trace(p - q); array[7] = 1; }
BEGIN { c = text; c = s; trace(s[1]); s[0] = 'x'; trace(execname[2]); trace(same.y); }
BEGIN { seen[pt] = 1; @ends[pt] = count(); pt = xlate <struct point>(3); trace(xlate <struct both>(pt).x); }
BEGIN { trace($0); @[stack()] = count(); @[jstack()] = count(); (void)pid; }
---
BEGIN { @x["k"] = count(); printa("%*d", @x); } ### "D_PRINTF_DYN_TYPE"
---
BEGIN { @x[1] = count(); printa("%*.*d", @x); } ### "D_PRINTF_DYN_PROTO"
