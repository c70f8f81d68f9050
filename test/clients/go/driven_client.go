package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/nacos-group/nacos-sdk-go/clients"
	"github.com/nacos-group/nacos-sdk-go/clients/config_client"
	"github.com/nacos-group/nacos-sdk-go/clients/naming_client"
	"github.com/nacos-group/nacos-sdk-go/common/constant"
	"github.com/nacos-group/nacos-sdk-go/model"
	"github.com/nacos-group/nacos-sdk-go/vo"
)

// A client has services for configurations and for naming, which are made when they are first used.
type client struct {
	spec    command
	lock    sync.Mutex
	configs config_client.IConfigClient
	naming  naming_client.INamingClient
}

func (c *client) obey(asked command) any {
	item := vo.ConfigParam{DataId: asked.DataId, Group: asked.Group, Content: asked.Content}
	switch asked.Do {
	case "publish":
		return sure(c.configClient().PublishConfig(item))
	case "read":
		return sure(c.configClient().GetConfig(item))
	case "listen":
		item.OnChange = func(_, _, _, content string) { tell(asked.Watch, content) }
		must(c.configClient().ListenConfig(item))
		return true
	case "register":
		one := asked.Instance
		return sure(c.namingClient().RegisterInstance(vo.RegisterInstanceParam{
			ServiceName: asked.Service, GroupName: asked.Group, Ip: one.Ip, Port: one.Port, ClusterName: one.Cluster,
			Weight: one.Weight, Enable: true, Healthy: true, Ephemeral: one.Ephemeral, Metadata: one.Metadata,
		}))
	case "list":
		return listed(sure(c.namingClient().SelectAllInstances(vo.SelectAllInstancesParam{
			ServiceName: asked.Service, GroupName: asked.Group,
		})))
	case "subscribe":
		must(c.namingClient().Subscribe(&vo.SubscribeParam{
			ServiceName: asked.Service, GroupName: asked.Group, Clusters: asked.Clusters,
			SubscribeCallback: func(hosts []model.SubscribeService, err error) {
				if err == nil {
					tell(asked.Watch, seen(hosts))
				}
			},
		}))
		return true
	default:
		panic("unknown command " + asked.Do)
	}
}

func seen(hosts []model.SubscribeService) []shownInstance {
	all := []shownInstance{}
	for _, one := range hosts {
		// The library hands on healthy ones only, and does not say which ones are ephemeral.
		all = append(all, shownInstance{
			Ip: one.Ip, Port: one.Port, Cluster: one.ClusterName, Weight: one.Weight, Healthy: true,
			Enabled: one.Enable, Metadata: one.Metadata,
		})
	}
	return all
}

func listed(hosts []model.Instance) []shownInstance {
	all := []shownInstance{}
	for _, one := range hosts {
		all = append(all, shownInstance{
			Ip: one.Ip, Port: one.Port, Cluster: one.ClusterName, Weight: one.Weight, Healthy: one.Healthy,
			Enabled: one.Enable, Ephemeral: one.Ephemeral, Metadata: one.Metadata,
		})
	}
	return all
}

func (c *client) configClient() config_client.IConfigClient {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.configs == nil {
		c.configs = sure(clients.NewConfigClient(c.parameters()))
	}
	return c.configs
}

func (c *client) namingClient() naming_client.INamingClient {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.naming == nil {
		c.naming = sure(clients.NewNamingClient(c.parameters()))
	}
	return c.naming
}

func (c *client) parameters() vo.NacosClientParam {
	folder := sure(os.MkdirTemp(os.Args[2], "client"))
	settings := &constant.ClientConfig{
		NamespaceId: c.spec.Namespace, TimeoutMs: 5_000, NotLoadCacheAtStart: true, LogLevel: "error",
		CacheDir: filepath.Join(folder, "cache"), LogDir: filepath.Join(folder, "log"),
		Username: c.spec.Username, Password: c.spec.Password,
	}
	if c.spec.TimeoutMs > 0 {
		settings.TimeoutMs = c.spec.TimeoutMs
	}
	var servers []constant.ServerConfig
	for _, address := range strings.Split(c.spec.Servers, ",") {
		host, port, err := net.SplitHostPort(address)
		must(err)
		servers = append(servers, constant.ServerConfig{
			Scheme: "http", ContextPath: "/nacos", IpAddr: host, Port: sure(strconv.ParseUint(port, 10, 16)),
		})
	}
	return vo.NacosClientParam{ClientConfig: settings, ServerConfigs: servers}
}
