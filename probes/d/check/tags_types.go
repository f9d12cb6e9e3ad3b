package check

import "trapline/probes/d/syntax"

// The tags of errors in declarations, types, translators and pragmas.
const (
	TypeMember syntax.Tag = "D_TYPE_MEMBER" // no such member

	DeclBadclass   syntax.Tag = "D_DECL_BADCLASS" // storage class that the language has no use for
	DeclCharattr   syntax.Tag = "D_DECL_CHARATTR"
	DeclVoidattr   syntax.Tag = "D_DECL_VOIDATTR"
	DeclArrnull    syntax.Tag = "D_DECL_ARRNULL" // array without a length
	DeclMname      syntax.Tag = "D_DECL_MNAME"   // member without a name of its own
	DeclBfconst    syntax.Tag = "D_DECL_BFCONST"
	DeclBfsize     syntax.Tag = "D_DECL_BFSIZE"
	DeclBftype     syntax.Tag = "D_DECL_BFTYPE"
	DeclEnconst    syntax.Tag = "D_DECL_ENCONST"
	DeclEnoflow    syntax.Tag = "D_DECL_ENOFLOW"
	DeclUseless    syntax.Tag = "D_DECL_USELESS"
	DeclDynobj     syntax.Tag = "D_DECL_DYNOBJ" // member or variable of a type that has no size
	DeclIncomplete syntax.Tag = "D_DECL_INCOMPLETE"
	DeclProtoType  syntax.Tag = "D_DECL_PROTO_TYPE"
	DeclProtoVoid  syntax.Tag = "D_DECL_PROTO_VOID"
	DeclProtoName  syntax.Tag = "D_DECL_PROTO_NAME"

	OffsetofType     syntax.Tag = "D_OFFSETOF_TYPE"
	OffsetofBitfield syntax.Tag = "D_OFFSETOF_BITFIELD"
	SizeofBitfield   syntax.Tag = "D_SIZEOF_BITFIELD"
	AddrofBitfield   syntax.Tag = "D_ADDROF_BITFIELD"
	DerefFunc        syntax.Tag = "D_DEREF_FUNC"

	MacroOflow syntax.Tag = "D_MACRO_OFLOW" // $ and a number that is too large
	OpVfptr    syntax.Tag = "D_OP_VFPTR"    // counting with a pointer to void or a function
	FuncIdkind syntax.Tag = "D_FUNC_IDKIND" // called thing is a variable
	SymBadref  syntax.Tag = "D_SYM_BADREF"  // symbol that is no variable of its own
	VarUnsup   syntax.Tag = "D_VAR_UNSUP"   // variable of other implementations

	ArgsMulti syntax.Tag = "D_ARGS_MULTI" // probes with different arguments
	ArgsType  syntax.Tag = "D_ARGS_TYPE"
	ArgsIdx   syntax.Tag = "D_ARGS_IDX"

	XlateRedecl   syntax.Tag = "D_XLATE_REDECL"
	XlateNoconv   syntax.Tag = "D_XLATE_NOCONV" // member without a line in the translator
	XlateNone     syntax.Tag = "D_XLATE_NONE"   // no translator between the types
	XlateSou      syntax.Tag = "D_XLATE_SOU"
	XlateIncompat syntax.Tag = "D_XLATE_INCOMPAT"
	XlateMemb     syntax.Tag = "D_XLATE_MEMB"

	ProvBadname  syntax.Tag = "D_PROV_BADNAME"
	ProvIncompat syntax.Tag = "D_PROV_INCOMPAT"
	ProvPrdup    syntax.Tag = "D_PROV_PRDUP"
	ProvPrarglen syntax.Tag = "D_PROV_PRARGLEN"
	ProvPrxlator syntax.Tag = "D_PROV_PRXLATOR"

	PragmaUnused syntax.Tag = "D_PRAGMA_UNUSED" // names something that is never defined
	PragmaScope  syntax.Tag = "D_PRAGMA_SCOPE"  // names something that is not there
	PragmaDepend syntax.Tag = "D_PRAGMA_DEPEND" // depends on something that is not there
)
