package kernel

import "fmt"

// Recover makes a panic of the function that defers it an error of that: files are anyone's, and
// neither what reads them here nor a library may bring the program down.
//
//	defer kernel.Recover(&err)
func Recover(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged: %v", r)
	}
}
