package desugar

import "trapline/probes/d/syntax"

// again puts a copy of a speculate() before statements that come after it in the program.
func again(spec *syntax.ExprStmt, list []syntax.Stmt) []syntax.Stmt {
	if spec == nil {
		return list
	}
	return append([]syntax.Stmt{&syntax.ExprStmt{Pos: spec.Pos, X: syntax.Clone(spec.X, nil)}}, list...)
}

// speculates is the last speculate() of a list, otherwise if it has none.
func speculates(list []syntax.Stmt, otherwise *syntax.ExprStmt) *syntax.ExprStmt {
	for _, s := range list {
		s, ok := s.(*syntax.ExprStmt)
		if !ok {
			continue
		}
		if call, ok := s.X.(*syntax.Call); ok {
			if f, ok := call.Fun.(*syntax.Ident); ok && f.Name == "speculate" {
				otherwise = s
			}
		}
	}
	return otherwise
}
