package main

import (
	"net"
	"strconv"

	"github.com/nacos-group/nacos-sdk-go/clients"
	"github.com/nacos-group/nacos-sdk-go/vo"
)

// endpointChecks are of clients that are given an endpoint, which tells them where the servers are.
func (s setup) endpointChecks(r *report) {
	r.check("endpoint: configurations are found", func() string {
		client, err := clients.NewConfigClient(s.byEndpoint())
		must(err)
		return s.roundTrip(client, "endpoint", "x")
	})
	r.check("endpoint: services are found", func() string {
		client, err := clients.NewNamingClient(s.byEndpoint())
		must(err)
		_, err = client.RegisterInstance(vo.RegisterInstanceParam{
			Ip: "127.0.0.1", Port: 7, ServiceName: "endpoint" + s.run, Weight: 1, Enable: true, Healthy: true, Ephemeral: true,
		})
		must(err)
		instances, err := client.SelectAllInstances(vo.SelectAllInstancesParam{ServiceName: "endpoint" + s.run})
		must(err)
		same(1, len(instances))
		return ""
	})
}

func (s setup) byEndpoint() vo.NacosClientParam {
	parameters := s.parameters("")
	parameters.ServerConfigs = nil
	parameters.ClientConfig.Endpoint = net.JoinHostPort(s.host, strconv.FormatUint(s.port, 10))
	return parameters
}
