//go:build tools

// The tools of etcd that tests of the runbook use. Their version is in go.mod; this file only keeps `go mod tidy` from removing them.
package main

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/etcdutl/v3"
)
