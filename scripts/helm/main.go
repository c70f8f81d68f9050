//go:build tools

// The helm of the tests and the release. Its version is in go.mod; this file only keeps `go mod tidy` from removing it.
package main

import _ "helm.sh/helm/v3/cmd/helm"
