//go:build tools

// Package main names what `go mod tidy` must keep. scripts/helm.js builds the command of the module itself.
package main

import _ "helm.sh/helm/v3/cmd/helm"
