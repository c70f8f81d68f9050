//go:build tools

// Names what is built of the module: h2spec.
package tools

import _ "github.com/summerwind/h2spec/cmd/h2spec"
