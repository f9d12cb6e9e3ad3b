package check

import "trapline/probes/d/syntax"

// The tags of the errors that this package finds. They are interface: scripts and tests
// depend on them.
const (
	Unknown syntax.Tag = "D_UNKNOWN" // part of the language that is not supported yet
	Empty   syntax.Tag = "D_EMPTY"   // nothing in the program
	NoReg   syntax.Tag = "D_NOREG"   // more values on the way than DTrace's machine has registers

	PredScalar syntax.Tag = "D_PRED_SCALAR" // predicate is not a number

	FuncUndef syntax.Tag = "D_FUNC_UNDEF" // no function of that name
	ProtoLen  syntax.Tag = "D_PROTO_LEN"  // wrong number of arguments or keys
	ProtoArg  syntax.Tag = "D_PROTO_ARG"  // wrong type of an argument or key

	StringofType syntax.Tag = "D_STRINGOF_TYPE"
	SizeofType   syntax.Tag = "D_SIZEOF_TYPE"
	OpInt        syntax.Tag = "D_OP_INT"    // operands must be integers
	OpScalar     syntax.Tag = "D_OP_SCALAR" // operands must be scalars
	OpArith      syntax.Tag = "D_OP_ARITH"  // operand must be arithmetic
	OpWrite      syntax.Tag = "D_OP_WRITE"  // variable may not be written
	OpLval       syntax.Tag = "D_OP_LVAL"   // operand must be an lvalue
	OpIncompat   syntax.Tag = "D_OP_INCOMPAT"
	OpArrFun     syntax.Tag = "D_OP_ARRFUN"     // array or function as a whole
	OpPtr        syntax.Tag = "D_OP_PTR"        // -> needs a pointer
	OpSou        syntax.Tag = "D_OP_SOU"        // . and -> need a structure or union
	OpIncomplete syntax.Tag = "D_OP_INCOMPLETE" // nothing is known of the type
	OpDyn        syntax.Tag = "D_OP_DYN"        // aggregation as an operand
	OpAct        syntax.Tag = "D_OP_ACT"        // action as an operand
	DivZero      syntax.Tag = "D_DIV_ZERO"
	DerefNonptr  syntax.Tag = "D_DEREF_NONPTR"
	DerefVoid    syntax.Tag = "D_DEREF_VOID"
	AddrofLval   syntax.Tag = "D_ADDROF_LVAL"
	AddrofVar    syntax.Tag = "D_ADDROF_VAR"
	CastInval    syntax.Tag = "D_CAST_INVAL"

	ArrBadref syntax.Tag = "D_ARR_BADREF" // associative array without keys
	ArrLocal  syntax.Tag = "D_ARR_LOCAL"  // associative array in this->
	KeyType   syntax.Tag = "D_KEY_TYPE"   // key of a type that can not be one

	PragmaInval  syntax.Tag = "D_PRAGMA_INVAL"
	PragmaOptset syntax.Tag = "D_PRAGMA_OPTSET"
	MacroUndef   syntax.Tag = "D_MACRO_UNDEF"
	MacroUnused  syntax.Tag = "D_MACRO_UNUSED"

	IdentBadref syntax.Tag = "D_IDENT_BADREF" // function where a variable is wanted
	IdentAmbig  syntax.Tag = "D_IDENT_AMBIG"  // enumerator of several values
	IdentUndef  syntax.Tag = "D_IDENT_UNDEF"
	SymNotypes  syntax.Tag = "D_SYM_NOTYPES" // kernel symbol of unknown type
	VarUndef    syntax.Tag = "D_VAR_UNDEF"   // self-> or this-> never assigned
	ArgsNone    syntax.Tag = "D_ARGS_NONE"
	RegsIdx     syntax.Tag = "D_REGS_IDX"

	PrintfDynProto  syntax.Tag = "D_PRINTF_DYN_PROTO" // no argument for *
	PrintfDynType   syntax.Tag = "D_PRINTF_DYN_TYPE"
	PrintfAggConv   syntax.Tag = "D_PRINTF_AGG_CONV"  // %@ in printf
	PrintfArgProto  syntax.Tag = "D_PRINTF_ARG_PROTO" // no argument for a conversion
	PrintfArgType   syntax.Tag = "D_PRINTF_ARG_TYPE"
	PrintfArgExtra  syntax.Tag = "D_PRINTF_ARG_EXTRA"
	PrintfArgFmt    syntax.Tag = "D_PRINTF_ARG_FMT" // malformed format
	PrintfFmtEmpty  syntax.Tag = "D_PRINTF_FMT_EMPTY"
	PrintaProto     syntax.Tag = "D_PRINTA_PROTO"
	PrintaAggarg    syntax.Tag = "D_PRINTA_AGGARG" // argument is no aggregation
	PrintaAggbad    syntax.Tag = "D_PRINTA_AGGBAD" // aggregation never assigned
	PrintaAggkey    syntax.Tag = "D_PRINTA_AGGKEY" // aggregation given with keys
	PrintaAggproto  syntax.Tag = "D_PRINTA_AGGPROTO"
	TracememAddr    syntax.Tag = "D_TRACEMEM_ADDR"
	TracememSize    syntax.Tag = "D_TRACEMEM_SIZE"
	TracememArgs    syntax.Tag = "D_TRACEMEM_ARGS"
	TracememDynsize syntax.Tag = "D_TRACEMEM_DYNSIZE"
	FreopenInvalid  syntax.Tag = "D_FREOPEN_INVALID"
	ClearProto      syntax.Tag = "D_CLEAR_PROTO"
	ClearAggarg     syntax.Tag = "D_CLEAR_AGGARG" // argument is no aggregation
	ClearAggbad     syntax.Tag = "D_CLEAR_AGGBAD" // aggregation never assigned
	TruncProto      syntax.Tag = "D_TRUNC_PROTO"
	TruncAggarg     syntax.Tag = "D_TRUNC_AGGARG"
	TruncAggbad     syntax.Tag = "D_TRUNC_AGGBAD"
	TruncScalar     syntax.Tag = "D_TRUNC_SCALAR"
	NormalizeProto  syntax.Tag = "D_NORMALIZE_PROTO"
	NormalizeAggarg syntax.Tag = "D_NORMALIZE_AGGARG"
	NormalizeAggbad syntax.Tag = "D_NORMALIZE_AGGBAD"
	NormalizeScalar syntax.Tag = "D_NORMALIZE_SCALAR"

	CommComm syntax.Tag = "D_COMM_COMM" // commit after commit
	CommDrec syntax.Tag = "D_COMM_DREC" // commit after a record
	SpecSpec syntax.Tag = "D_SPEC_SPEC"
	SpecComm syntax.Tag = "D_SPEC_COMM"
	SpecDrec syntax.Tag = "D_SPEC_DREC"
	AggComm  syntax.Tag = "D_AGG_COMM"
	AggSpec  syntax.Tag = "D_AGG_SPEC"
	ActSpec  syntax.Tag = "D_ACT_SPEC" // destructive action after speculate
	ExitSpec syntax.Tag = "D_EXIT_SPEC"
	DrecComm syntax.Tag = "D_DREC_COMM"

	TraceAgg      syntax.Tag = "D_TRACE_AGG"
	PrintVoid     syntax.Tag = "D_PRINT_VOID"
	PrintAgg      syntax.Tag = "D_PRINT_AGG"
	TraceVoid     syntax.Tag = "D_TRACE_VOID"
	CgExpr        syntax.Tag = "D_CG_EXPR" // a stack or a symbol where only a value can be
	StackProto    syntax.Tag = "D_STACK_PROTO"
	StackSize     syntax.Tag = "D_STACK_SIZE"
	UstackFrames  syntax.Tag = "D_USTACK_FRAMES"
	UstackStrsize syntax.Tag = "D_USTACK_STRSIZE"
	UstackProto   syntax.Tag = "D_USTACK_PROTO"

	DeclArrbig  syntax.Tag = "D_DECL_ARRBIG"
	DeclArrsub  syntax.Tag = "D_DECL_ARRSUB"
	DeclIdred   syntax.Tag = "D_DECL_IDRED" // declared again, otherwise
	DeclLocassc syntax.Tag = "D_DECL_LOCASSC"
	DeclVoidobj syntax.Tag = "D_DECL_VOIDOBJ"

	AggRedef  syntax.Tag = "D_AGG_REDEF"
	AggFunc   syntax.Tag = "D_AGG_FUNC"
	AggMdim   syntax.Tag = "D_AGG_MDIM"
	AggNull   syntax.Tag = "D_AGG_NULL"
	AggScalar syntax.Tag = "D_AGG_SCALAR"

	LquantBasetype   syntax.Tag = "D_LQUANT_BASETYPE"
	LquantBaseval    syntax.Tag = "D_LQUANT_BASEVAL"
	LquantLimtype    syntax.Tag = "D_LQUANT_LIMTYPE"
	LquantLimval     syntax.Tag = "D_LQUANT_LIMVAL"
	LquantMismatch   syntax.Tag = "D_LQUANT_MISMATCH"
	LquantSteptype   syntax.Tag = "D_LQUANT_STEPTYPE"
	LquantStepval    syntax.Tag = "D_LQUANT_STEPVAL"
	LquantSteplarge  syntax.Tag = "D_LQUANT_STEPLARGE"
	LquantStepsmall  syntax.Tag = "D_LQUANT_STEPSMALL"
	LquantMatchbase  syntax.Tag = "D_LQUANT_MATCHBASE"
	LquantMatchlim   syntax.Tag = "D_LQUANT_MATCHLIM"
	LquantMatchstep  syntax.Tag = "D_LQUANT_MATCHSTEP"
	LlquantFactype   syntax.Tag = "D_LLQUANT_FACTORTYPE"
	LlquantFacval    syntax.Tag = "D_LLQUANT_FACTORVAL"
	LlquantFacmatch  syntax.Tag = "D_LLQUANT_FACTORMATCH"
	LlquantFacsmall  syntax.Tag = "D_LLQUANT_FACTORSMALL"
	LlquantLowtype   syntax.Tag = "D_LLQUANT_LOWTYPE"
	LlquantLowval    syntax.Tag = "D_LLQUANT_LOWVAL"
	LlquantLowmatch  syntax.Tag = "D_LLQUANT_LOWMATCH"
	LlquantHightype  syntax.Tag = "D_LLQUANT_HIGHTYPE"
	LlquantHighval   syntax.Tag = "D_LLQUANT_HIGHVAL"
	LlquantHighmatch syntax.Tag = "D_LLQUANT_HIGHMATCH"
	LlquantNsteptype syntax.Tag = "D_LLQUANT_NSTEPTYPE"
	LlquantNstepval  syntax.Tag = "D_LLQUANT_NSTEPVAL"
	LlquantNstpmatch syntax.Tag = "D_LLQUANT_NSTEPMATCH"
	LlquantMagrange  syntax.Tag = "D_LLQUANT_MAGRANGE"
	LlquantMagtoobig syntax.Tag = "D_LLQUANT_MAGTOOBIG"
	LlquantFacnsteps syntax.Tag = "D_LLQUANT_FACTORNSTEPS"
	LlquantFaceven   syntax.Tag = "D_LLQUANT_FACTOREVEN"
)
