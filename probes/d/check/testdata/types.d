/* Declarations, types, translators and pragmas that the checker refuses. The kernel's types are those of checktest. */
struct s { int x; }; BEGIN { trace(((struct s *)arg0)->y); } ### "D_TYPE_MEMBER y is not a member of struct s"
---
BEGIN { trace(curthread->nosuch); } ### "D_TYPE_MEMBER nosuch is not a member of struct task_struct"
---
BEGIN { trace(offsetof(struct file, nosuch)); } ### "D_UNKNOWN failed to determine offset of nosuch: it is not a member of struct fil"
---
auto int x; ### "D_DECL_BADCLASS specified storage class not appropriate in D: auto"
---
register int x; ### "D_DECL_BADCLASS"
---
struct s { static int x; }; ### "D_DECL_BADCLASS"
---
short char x; ### "D_DECL_CHARATTR"
---
unsigned void *x; ### "D_DECL_VOIDATTR"
---
unsigned string x; ### "D_DECL_SIGNINT"
---
long string x; ### "D_DECL_LONGINT"
---
long short x; ### "D_UNKNOWN failed to resolve type long short: unknown type name"
---
struct s { int x; } int y; ### "D_DECL_COMBO"
---
unsigned float x; ### "D_DECL_SIGNINT"
---
int x[]; ### "D_DECL_ARRNULL"
---
int x[0]; ### "D_DECL_ARRSUB"
---
int x[-1]; ### "D_DECL_ARRSUB"
---
int x[500000]; ### "D_DECL_ARRBIG"
---
int x[1000][1000]; ### "D_DECL_ARRBIG"
---
struct s { char big[1000000]; char more[1000000]; }; ### "D_DECL_ARRBIG"
---
char a[1000000]; char b[1000000]; char c[1000000]; char d[1000000]; char e[1000000]; char f[1000000]; char g[1000000]; char h[1000000];
char a1[1000000]; char b1[1000000]; char c1[1000000]; char d1[1000000]; char e1[1000000]; char f1[1000000]; char g1[1000000]; char h1[1000000];
char last[1000000]; ### "D_DECL_ARRBIG variables are too large"
---
typedef int foo; typedef long foo; ### "D_DECL_IDRED typedef redeclared: foo"
---
typedef long uint8_t; ### "D_DECL_IDRED typedef redeclared: uint8_t"
---
struct s { int x; }; struct s { int x; }; ### "D_DECL_TYPERED type redeclared: struct s"
---
union s { int x; }; union s { int x; } y; ### "D_DECL_TYPERED type redeclared"
---
enum s { A }; enum s { B }; ### "D_DECL_TYPERED"
---
struct s { int; }; ### "D_DECL_MNAME member declaration requires a name"
---
struct s { int x; char x; }; ### "D_UNKNOWN failed to define member 'x' of struct s: it is there twice"
---
struct s { int x : pid; }; ### "D_DECL_BFCONST"
---
struct s { int x : 0; }; ### "D_DECL_BFCONST"
---
struct s { int x : 33; }; ### "D_DECL_BFSIZE bit-field too big for type: 33 bits of int"
---
struct s { int *x : 3; }; ### "D_DECL_BFTYPE"
---
enum e { A = pid }; ### "D_DECL_ENCONST enumerator 'A'"
---
enum e { A = 0x7fffffff, B }; ### "D_DECL_ENOFLOW enumerator 'B'"
---
enum e { A, A }; ### "D_UNKNOWN failed to define enumerator 'A': it is there twice"
---
enum e { pid }; ### "D_DECL_IDRED"
---
int; ### "D_DECL_USELESS useless declaration"
---
struct s { int x[int]; }; ### "D_DECL_DYNOBJ"
---
struct s { int x(int); }; ### "D_DECL_VOIDOBJ cannot have a member that is a function: x"
---
int f(int); int f; ### "D_DECL_IDRED"
---
struct s { struct s x; }; ### "D_DECL_INCOMPLETE incomplete struct s: x"
---
struct nosuch x; ### "D_DECL_INCOMPLETE incomplete struct nosuch: x"
---
struct s { void x; }; ### "D_DECL_VOIDOBJ"
---
provider foo { probe p(int f(int)); }; ### "D_DECL_PROTO_TYPE"
---
int (*f)(void, int); ### "D_DECL_PROTO_VOID"
---
provider foo { probe p(int, void); }; ### "D_DECL_PROTO_VOID"
---
inline int f[int] = 1; ### "D_DECL_PROTO_NAME inline f prototype requires parameter \\#1 to have a name"
---
inline int pid = 1; ### "D_DECL_IDRED"
---
inline int x = 1; inline int x = 2; ### "D_DECL_IDRED"
---
inline int x = 1; BEGIN { x = 2; } ### "D_OP_WRITE"
---
inline int x = "a"; ### "D_OP_INCOMPAT inline int definition uses incompatible types"
---
inline int x = x + 1; ### "D_IDENT_UNDEF"
---
inline int f[int a] = a; BEGIN { trace(f[1, 2]); } ### "D_PROTO_LEN"
---
inline int f[int a] = a; BEGIN { trace(f["a"]); } ### "D_PROTO_ARG"
---
inline int f[int a] = a; BEGIN { trace(f); } ### "D_IDENT_BADREF inline f\\[ \\] may not be referenced without arguments"
---
inline int x = 1; BEGIN { trace(&x); } ### "D_ADDROF_LVAL"
---
BEGIN { trace(offsetof(int, x)); } ### "D_OFFSETOF_TYPE"
---
BEGIN { trace(offsetof(struct nosuch, x)); } ### "D_OFFSETOF_TYPE offsetof operand must be a struct or union type: nothing is known of t"
---
BEGIN { trace(offsetof(struct inode, i_mode)); } ### "D_OFFSETOF_BITFIELD"
---
BEGIN { trace(sizeof (((struct inode *)arg0)->i_mode)); } ### "D_SIZEOF_BITFIELD"
---
BEGIN { trace(&((struct inode *)arg0)->i_mode); } ### "D_ADDROF_BITFIELD"
---
BEGIN { trace((*((struct file *)arg0)->f_op)(1)); } ### "D_FUNC_IDENT"
---
BEGIN { trace(*((struct file *)arg0)->f_op); } ### "D_DEREF_FUNC"
---
BEGIN { (struct inode *)arg0 = 0; } ### "D_OP_LVAL"
---
BEGIN { *(struct inode *)arg0 = *(struct inode *)arg1; } ### "D_OP_LVAL"
---
BEGIN { ((struct file *)arg0)->f_op = 0; }
---
int a[3]; BEGIN { x = "s"; x = a; } ### "D_OP_INCOMPAT"
---
int a[3]; BEGIN { a = 1; } ### "D_OP_ARRFUN operator = may not be applied to an operand of type int \\[3\\]"
---
int a[3]; BEGIN { a[3, 1]++; } ### "D_ARR_BADREF"
---
int a[3]; BEGIN { p = &a[1]; p = &self->p; } ### "D_VAR_UNDEF"
---
struct s { int x; } v; BEGIN { p = &v.x; trace(&v); } ### "D_ADDROF_VAR"
---
int a[3]; BEGIN { a[1, 2] = 1; } ### "D_ARR_BADREF a is not an associative array: it takes one index, 2 passed"
---
struct s { int x; }; this struct s t; BEGIN { this->t->x = 1; } ### "D_OP_PTR"
---
struct s { int x; }; struct r { int x; }; struct s a; struct r b; BEGIN { a = b; } ### "D_OP_INCOMPAT"
---
struct s { int x; }; struct s a; BEGIN /a/ { } ### "D_PRED_SCALAR"
---
kinst::f:0 { trace(args[0]); } ### "D_ARGS_NONE.*kinst::f:0"
---
inline int x = args[0]; ### "D_ARGS_NONE"
---
fbt::vfs_read:entry, BEGIN { trace(args[0]); } ### "D_ARGS_NONE.*BEGIN"
---
fbt::vfs_read:entry { trace(args[3]); } ### "D_ARGS_IDX index 3 is out of range for fbt::vfs_read:entry"
---
fbt::vfs_read:entry { trace(args[pid]); } ### "D_ARGS_TYPE args.*integer constant"
---
fbt::vfs_read:entry, fbt::vfs_write:entry { trace(args[0]); } ### "D_ARGS_MULTI"
---
struct l { int x; }; translator struct l < struct file *F > { x = 1; }; provider fbt { probe entry(struct file *F) : (struct l *F); }; fbt::vfs_read:entry { trace(args[1]); } ### "D_ARGS_IDX"
---
struct l { int x; }; translator struct l < struct file *F > { x = 1; }; provider fbt { probe entry(struct file *F) : (struct l *F); probe return(int a) : (int a); }; fbt::vfs_read:entry, fbt::vfs_read:return { trace(args[0]); } ### "D_ARGS_MULTI"
---
provider fbt { probe entry(int a, char *b) : (char *b, int a); probe start(int a, char *b) : (char *a, int b); }; BEGIN { } ### "D_PROV_PRXLATOR translator from int to char"
---
provider fbt { probe entry(int a) : (); }; fbt::vfs_read:entry { trace(args[0]); } ### "D_ARGS_NONE args.*has no arguments"
---
struct a { int x; }; translator struct a < int I > { x = I; }; translator struct a < int J > { x = J; }; ### "D_XLATE_REDECL"
---
struct a { int x, y; }; translator struct a < int I > { x = I; };
BEGIN { trace(xlate <struct a>(1).y); } ### "D_XLATE_NOCONV translator does not define conversion for member: y"
---
struct a { int x, y; }; translator struct a < int I > { x = I; };
BEGIN { trace(xlate <struct a>(1).zz); } ### "D_XLATE_NOCONV translator does not define conversion for member: zz"
---
struct a { int x; };
BEGIN { trace(xlate <struct a>(1).x); } ### "D_XLATE_NONE cannot translate from \"int\" to \"struct a\""
---
BEGIN { trace(xlate <int>(1)); } ### "D_XLATE_SOU"
---
translator int < int I > { x = I; }; ### "D_XLATE_SOU"
---
struct a { int x; }; translator struct a < int I > { x = "s"; }; ### "D_XLATE_INCOMPAT"
---
struct a { int x; }; translator struct a < int I > { z = I; }; ### "D_XLATE_MEMB translator member z is not a member of struct a"
---
struct a { int x; }; translator struct a < int I > { x = I; y = I; }; ### "D_XLATE_MEMB"
---
struct a { int x[2]; }; translator struct a < int *I > { x = I; }; ### "D_XLATE_INCOMPAT"
---
struct a { int x; }; translator struct a < int I > { x = I; };
BEGIN { y = xlate <struct a *>(1); } ### "D_OP_DYN"
---
provider foo1 { probe p(); }; ### "D_PROV_BADNAME provider name may not end with a digit: foo1"
---
provider aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa { }; ### "D_PROV_BADNAME"
---
provider foo { probe p(int); }; provider foo { probe p(char *); }; ### "D_PROV_INCOMPAT"
---
provider foo { probe p(int); probe p(int); }; ### "D_PROV_PRDUP probe redeclared: foo:::p"
---
provider foo { probe p(int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int,int); }; ### "D_PROV_PRARGLEN"
---
provider foo { probe p(int) : (struct file *); }; ### "D_PROV_PRXLATOR"
---
#pragma D attributes Stable/Stable/Common nosuch ### "D_PRAGMA_UNUSED unused \\#pragma D attributes: nosuch is not defined"
BEGIN { }
---
#pragma D attributes Stable/Stable/Common provider nosuch ### "D_PRAGMA_SCOPE"
BEGIN { }
---
#pragma D attributes Stable/Common pid ### "D_PRAGMA_INVAL invalid attributes specified by \\#pragma D attributes: Stable/Common"
BEGIN { }
---
#pragma D attributes Stable/Stable/Common foo pid ### "D_PRAGMA_MALFORM"
BEGIN { }
---
#pragma D binding 1.0 pid ### "D_PRAGMA_MALFORM"
BEGIN { }
---
#pragma D depends_on provider nosuch ### "D_PRAGMA_DEPEND program requires provider nosuch"
BEGIN { }
---
#pragma D depends_on module nosuch ### "D_PRAGMA_DEPEND"
BEGIN { }
---
#pragma D depends_on library nosuch.d ### "D_PRAGMA_DEPEND"
BEGIN { }
---
#pragma D depends_on planet earth ### "D_PRAGMA_MALFORM"
BEGIN { }
---
BEGIN { trace(pid(1)); } ### "D_FUNC_IDKIND pid is a variable"
---
int x; BEGIN { x(1); } ### "D_FUNC_IDKIND"
---
BEGIN { trace($99999999999999999999); } ### "D_MACRO_OFLOW"
---
BEGIN { this->p = (void *)arg0; this->p++; } ### "D_OP_VFPTR"
---
BEGIN { trace((void *)arg0 + 1); } ### "D_OP_INCOMPAT"
---
BEGIN { trace(((struct file *)arg0)->f_op + 1); } ### "D_OP_INCOMPAT"
---
BEGIN { trace(&`this_cpu_off); trace(`this_cpu_off); } ### "D_SYM_BADREF `this_cpu_off is a variable of each CPU"
---
BEGIN { trace(zonename); } ### "D_VAR_UNSUP"
---
/* These are fine. */
#pragma D depends_on module vmlinux
typedef int mine; void fn(int, ...);
#pragma D attributes Evolving/Unstable/ISA mine
#pragma D attributes Evolving/Unstable/ISA fn
struct later;
struct later *ahead;
struct later { struct later *next; union { int a; char b[4]; }; unsigned f : 3, : 5, g : 9, : 0, h : 1; };
typedef struct later later_t;
typedef int (*handler_t)(later_t *, int, ...);
enum { RED, GREEN = RED + 3, BLUE };
enum color { CYAN = 'a' } shade;
#pragma D binding "1.6" shade
extern int counted;
int matrix[3][BLUE];
handler_t *handlers;
provider foo { probe start(int, char *n); probe done() ; probe both(int a) : (int a); };
#pragma D attributes Stable/Stable/Common provider foo
inline int WIDE = sizeof (struct later) + BLUE;
translator later_t < struct inode *I > { a = I->i_ino; f = I->i_mode; };

BEGIN
{
	counted = WIDE;
	shade = CYAN;
	matrix[1][counted] = shade == GREEN;
	this->l = *(later_t *)arg0;
	this->l.a = xlate <later_t>(((struct file *)arg0)->f_inode).a;
	this->l.g++;
	ahead = this->l.next;
	trace(ahead->next->next->h);
	trace(sizeof (struct later) + offsetof(later_t, b));
	trace(stringof(this->l.b));
	trace((*`files[0]).f_inode == &*((struct inode *)arg0));
	pts[pid] = *(later_t *)arg1;
	pts[1].b[2] = 'x';
	handlers = (handler_t *)&`files;
	trace(`init_task.parent->comm);
}
---
BEGIN { x = DIRTY; } ### "D_IDENT_AMBIG enumerator DIRTY has the values .3 7.: compare"
---
BEGIN { trace(((struct page *)0)->state == (DIRTY + 1)); } ### "D_IDENT_AMBIG"
