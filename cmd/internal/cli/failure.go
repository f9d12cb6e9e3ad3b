package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"trapline/probes/d/syntax"
	"trapline/probes/front"
)

// A failure is an error as an object of JSON, see docs/format.md.
type failure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Tag     string `json:"tag,omitempty"`    // of an error in D
	File    string `json:"file,omitempty"`   // the script it is in
	Line    int    `json:"line,omitempty"`   // in it
	Status  int    `json:"status,omitempty"` // with which the program ends, if it does
}

func writeFailure(w io.Writer, err error, message string, status int) {
	f := failure{Type: "error", Message: message, Status: status}
	var compile *front.CompileError
	var in *syntax.Error
	if errors.As(err, &compile) {
		f.File = compile.Source.File
	}
	if errors.As(err, &in) {
		f.Tag, f.Line = string(in.Tag), in.Pos.Line
	}
	text, err := json.Marshal(f)
	if err != nil { // it has strings and numbers only
		panic(err)
	}
	fmt.Fprintf(w, "%s\n", text)
}
