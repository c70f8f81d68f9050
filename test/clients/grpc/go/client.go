package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nacos-group/nacos-sdk-go/v2/clients"
	"github.com/nacos-group/nacos-sdk-go/v2/clients/config_client"
	"github.com/nacos-group/nacos-sdk-go/v2/clients/naming_client"
	"github.com/nacos-group/nacos-sdk-go/v2/common/constant"
	"github.com/nacos-group/nacos-sdk-go/v2/model"
	"github.com/nacos-group/nacos-sdk-go/v2/vo"
)

const connectLimit = 30 * time.Second

// A client has services for configurations and for naming, which are made when they are first used.
type client struct {
	spec        command
	lock        sync.Mutex
	configs     config_client.IConfigClient
	naming      naming_client.INamingClient
	subscribers sync.Map
}

func (c *client) obey(asked command) any {
	item := vo.ConfigParam{DataId: asked.DataId, Group: asked.Group, Content: asked.Content, CasMd5: asked.CasMd5}
	switch asked.Do {
	case "publish":
		return sure(c.configClient().PublishConfig(item))
	case "read":
		return sure(c.configClient().GetConfig(item))
	case "remove":
		return sure(c.configClient().DeleteConfig(item))
	case "listen":
		item.OnChange = func(_, _, _, content string) { tell(asked.Watch, content) }
		must(c.configClient().ListenConfig(item))
		return true
	case "unlisten":
		must(c.configClient().CancelListenConfig(item))
		return true
	case "close":
		c.close()
		return true
	default:
		return c.obeyForService(asked)
	}
}

func (c *client) obeyForService(asked command) any {
	switch asked.Do {
	case "register":
		return sure(c.namingClient().RegisterInstance(registration(asked, asked.Instance)))
	case "registerAll":
		batch := vo.BatchRegisterInstanceParam{ServiceName: asked.Service, GroupName: asked.Group}
		for _, one := range asked.Instances {
			batch.Instances = append(batch.Instances, registration(asked, one))
		}
		return sure(c.namingClient().BatchRegisterInstance(batch))
	case "deregister":
		return sure(c.namingClient().DeregisterInstance(vo.DeregisterInstanceParam{
			ServiceName: asked.Service, GroupName: asked.Group, Ip: asked.Instance.Ip, Port: asked.Instance.Port,
			Cluster: asked.Instance.Cluster, Ephemeral: asked.Instance.Ephemeral,
		}))
	case "instances":
		return c.instances(asked)
	case "list":
		return seen(sure(c.namingClient().SelectAllInstances(vo.SelectAllInstancesParam{
			ServiceName: asked.Service, GroupName: asked.Group,
		})))
	case "services":
		page := sure(c.namingClient().GetAllServicesInfo(vo.GetAllServiceInfoParam{
			NameSpace: c.spec.Namespace, GroupName: asked.Group, PageNo: asked.PageNo, PageSize: asked.PageSize,
		}))
		return map[string]any{"count": page.Count, "names": page.Doms}
	case "subscribe":
		subscriber := &vo.SubscribeParam{
			ServiceName: asked.Service, GroupName: asked.Group, Clusters: asked.Clusters,
			SubscribeCallback: func(hosts []model.Instance, err error) {
				if err == nil {
					tell(asked.Watch, seen(hosts))
				}
			},
		}
		c.subscribers.Store(asked.Service+"@"+asked.Group, subscriber)
		must(c.namingClient().Subscribe(subscriber))
		return true
	case "unsubscribe":
		subscriber, _ := c.subscribers.LoadAndDelete(asked.Service + "@" + asked.Group)
		must(c.namingClient().Unsubscribe(subscriber.(*vo.SubscribeParam)))
		return true
	default:
		panic("unknown command " + asked.Do)
	}
}

// instances reads through a fresh client, because the library never forgets the last instance of a service.
func (c *client) instances(asked command) any {
	reader := c.newNaming()
	defer closed(reader)
	if asked.HealthyOnly {
		return seen(sure(reader.SelectInstances(vo.SelectInstancesParam{
			ServiceName: asked.Service, GroupName: asked.Group, Clusters: asked.Clusters, HealthyOnly: true,
		})))
	}
	return seen(sure(reader.SelectAllInstances(vo.SelectAllInstancesParam{
		ServiceName: asked.Service, GroupName: asked.Group, Clusters: asked.Clusters,
	})))
}

func registration(asked command, one instance) vo.RegisterInstanceParam {
	return vo.RegisterInstanceParam{
		ServiceName: asked.Service, GroupName: asked.Group, Ip: one.Ip, Port: one.Port, ClusterName: one.Cluster,
		Weight: one.Weight, Enable: true, Healthy: true, Ephemeral: one.Ephemeral, Metadata: one.Metadata,
	}
}

func seen(hosts []model.Instance) []instance {
	all := []instance{}
	for _, one := range hosts {
		all = append(all, instance{
			Ip: one.Ip, Port: one.Port, Cluster: one.ClusterName, Weight: one.Weight, Healthy: one.Healthy,
			Enabled: one.Enable, Ephemeral: one.Ephemeral, Metadata: one.Metadata,
		})
	}
	return all
}

func (c *client) close() {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.configs != nil {
		closed(c.configs)
	}
	if c.naming != nil {
		closed(c.naming)
	}
}

func (c *client) configClient() config_client.IConfigClient {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.configs == nil {
		c.configs = sure(clients.NewConfigClient(c.parameters()))
		// The library connects with the first request, and fails others meanwhile.
		waitFor(func() bool {
			_, err := c.configs.GetConfig(vo.ConfigParam{DataId: "connected", Group: "connected"})
			return err == nil || !strings.Contains(err.Error(), "both server and cache")
		})
	}
	return c.configs
}

func (c *client) namingClient() naming_client.INamingClient {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.naming == nil {
		c.naming = c.newNaming()
	}
	return c.naming
}

func (c *client) newNaming() naming_client.INamingClient {
	fresh := newNamingClient(c.parameters())
	waitFor(fresh.ServerHealthy)
	return fresh
}

// The library keeps its connections in a map that it changes without a lock when a client is closed.
var library sync.Mutex

func newNamingClient(parameters vo.NacosClientParam) naming_client.INamingClient {
	library.Lock()
	defer library.Unlock()
	return sure(clients.NewNamingClient(parameters))
}

func closed(one interface{ CloseClient() }) {
	library.Lock()
	defer library.Unlock()
	one.CloseClient()
}

func waitFor(probe func() bool) {
	for end := time.Now().Add(connectLimit); !probe() && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
}

func (c *client) parameters() vo.NacosClientParam {
	folder := sure(os.MkdirTemp(os.Args[1], "client"))
	settings := &constant.ClientConfig{
		NamespaceId: c.spec.Namespace, TimeoutMs: 20_000, NotLoadCacheAtStart: true, LogLevel: "error",
		CacheDir: filepath.Join(folder, "cache"), LogDir: filepath.Join(folder, "log"),
		Username: c.spec.Username, Password: c.spec.Password,
	}
	scheme := "http"
	if c.spec.CaFile != "" {
		scheme = "https"
		settings.TLSCfg = constant.TLSConfig{Appointed: true, Enable: true, CaFile: c.spec.CaFile}
	}
	var servers []constant.ServerConfig
	for _, address := range strings.Split(c.spec.Servers, ",") {
		host, port, err := net.SplitHostPort(address)
		must(err)
		servers = append(servers, constant.ServerConfig{
			Scheme: scheme, ContextPath: "/nacos", IpAddr: host, Port: sure(strconv.ParseUint(port, 10, 16)),
		})
	}
	return vo.NacosClientParam{ClientConfig: settings, ServerConfigs: servers}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func sure[T any](value T, err error) T {
	must(err)
	return value
}
