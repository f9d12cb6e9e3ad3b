package syntax

import "strings"

// Parts are those of a probe description as it is written, from the left: provider, module, function,
// name, or fewer. More than four are too many. Behind a provider and a module the function may be a path
// of C++ or Rust, with :: in it; a colon that stands alone behind that ends it.
func Parts(text string) []string {
	parts := strings.Split(text, ":")
	if len(parts) <= 4 {
		return parts
	}
	rest := strings.Join(parts[2:], ":")
	if !strings.Contains(rest, "::") || strings.HasPrefix(rest, ":") {
		return parts
	}
	at := strings.LastIndex(rest, ":")
	if rest[at-1] == ':' { // it is the path's
		return append(parts[:2:2], rest, "")
	}
	return append(parts[:2:2], rest[:at], rest[at+1:])
}
