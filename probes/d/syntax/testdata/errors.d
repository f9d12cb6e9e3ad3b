/* Programs that the parser refuses. The tag stands before the text. */
BEGIN { trace(1)
}} ### `D_SYNTAX.*near "}"`
---
BEGIN { trace(; } ### "D_SYNTAX.*syntax error near \";\""
---
BEGIN { x = ; } ### "D_SYNTAX"
---
BEGIN { x = 09; } ### "D_INT_DIGIT.*09.*base 8"
---
BEGIN { x = 0xg; } ### "D_SYNTAX.*near \"xg\""
---
BEGIN { x = 12ab; } ### "D_SYNTAX.*near \"ab\""
---
BEGIN { x = 18446744073709551616; } ### "D_INT_OFLOW.*18446744073709551616"
---
BEGIN { x = 1uu; } ### "syntax error near \"u\""
---
BEGIN { x = 1.5; } ### "floating-point constants are not permitted"
---
BEGIN { x = "abc ### "D_STR_NL"
; }
---
BEGIN { x = 'a ### "D_CHR_NL"
; }
---
BEGIN { x = ''; } ### "D_CHR_NULL"
---
BEGIN { x = '123456789'; } ### "D_CHR_OFLOW"
---
BEGIN { /* a /* b */ } ### "/\\* encountered inside a comment"
---
a:b:c:d:e { } ### "D_PDESC_INVAL.*a:b:c:d:e"
---
BEGIN /x
y/ { } ### "D_SYNTAX"
---
BEGIN { while (1) } ### "syntax error near \"while\""
---
#error wrong place ### "D_PRAGERR.*#error: wrong place"
---
#warble ### "D_PRAGCTL_INVAL.*invalid control directive: #warble"
---
{ trace(1); } ### "syntax error near \"{\""
---
BEGIN { self.x = 1; } ### "syntax error near \".\""
---
BEGIN { self = 1; } ### "syntax error near \"=\""
---
int x = 5; ### "syntax error near \"=\""
---
BEGIN { x = pid_t + 1; } ### "syntax error near \"pid_t\""
---
import int foo; ### "import declarations are not part of the language"
---
BEGIN { x = 1 ? 2; } ### "syntax error near \";\""
---
BEGIN { x[1; } ### "syntax error"
---
BEGIN { if x { } } ### "syntax error near \"x\""
---
BEGIN { $ = 1; } ### "syntax error near \"\\$\""
---
BEGIN
{
	trace("a\
b");
	trace(1 2); ### "syntax error near \"2\""
}
---
extern static int x; ### "D_DECL_CLASS.*only one storage class"
---
int (*f)(static int); ### "D_DECL_PARMCLASS"
---
int vmlinux`x; ### "D_DECL_SCOPE"
---
struct vmlinux`s { int x; }; ### "D_DECL_SCOPE"
---
struct { int x; }
BEGIN { } ### "D_SYNTAX"
---
struct s { int x }; ### "syntax error near \"}\""
---
enum e { A = }; ### "syntax error near \"}\""
---
inline int x; ### "syntax error near \";\""
---
translator struct s < int > { x = 1; }; ### "syntax error near \">\""
---
translator struct s < int I > { x = 1 }; ### "syntax error near \"}\""
---
provider p { int x; }; ### "syntax error near \"int\""
---
provider p { probe x; }; ### "syntax error near \";\""
---
BEGIN { trace(xlate struct s (1)); } ### "syntax error near \"struct\""
---
int f(int,); ### "syntax error near \"\\)\""
---
provider p { probe x(int, ...); }; ### "D_DECL_PROTO_VARARGS"
