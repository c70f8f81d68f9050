// Drives a server with the Go client library of HTTP. Arguments: HOST:PORT SCRATCH-FOLDER.
// Prints one JSON line for each check: {"name","ok","detail"}. With the word driven instead of an address it obeys commands.
package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nacos-group/nacos-sdk-go/clients"
	"github.com/nacos-group/nacos-sdk-go/clients/config_client"
	"github.com/nacos-group/nacos-sdk-go/clients/naming_client"
	"github.com/nacos-group/nacos-sdk-go/common/constant"
	"github.com/nacos-group/nacos-sdk-go/vo"
)

const group = "DEFAULT_GROUP"

// A setup makes clients of one server that keep their files in one folder; run makes names unique.
type setup struct {
	host    string
	port    uint64
	scratch string
	run     string
}

func main() {
	if os.Args[1] == "driven" {
		obeyCommands()
		return
	}
	host, port, err := net.SplitHostPort(os.Args[1])
	must(err)
	number, err := strconv.ParseUint(port, 10, 16)
	must(err)
	s := setup{host, number, os.Args[2], strconv.FormatInt(time.Now().UnixMilli(), 36)}
	r := &report{}
	s.configChecks(r)
	s.namingChecks(r)
	s.livenessChecks(r)
	s.endpointChecks(r)
	r.wait()
}

func scheme() string {
	if os.Getenv("TEST_TLS") != "" {
		return "https"
	}
	return "http"
}

func (s setup) parameters(namespace string) vo.NacosClientParam {
	folder, err := os.MkdirTemp(s.scratch, "client")
	must(err)
	return vo.NacosClientParam{
		ClientConfig: &constant.ClientConfig{
			NamespaceId:         namespace,
			TimeoutMs:           5000,
			NotLoadCacheAtStart: true,
			CacheDir:            filepath.Join(folder, "cache"),
			LogDir:              filepath.Join(folder, "log"),
			LogLevel:            "error",
			Username:            os.Getenv("TEST_USERNAME"),
			Password:            os.Getenv("TEST_PASSWORD"),
		},
		ServerConfigs: []constant.ServerConfig{{Scheme: scheme(), ContextPath: "/nacos", IpAddr: s.host, Port: s.port}},
	}
}

func (s setup) config(namespace string) config_client.IConfigClient {
	client, err := clients.NewConfigClient(s.parameters(namespace))
	must(err)
	return client
}

func (s setup) naming(namespace string) naming_client.INamingClient {
	client, err := clients.NewNamingClient(s.parameters(namespace))
	must(err)
	return client
}
