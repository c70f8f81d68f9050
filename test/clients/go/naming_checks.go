package main

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/nacos-group/nacos-sdk-go/clients/naming_client"
	"github.com/nacos-group/nacos-sdk-go/model"
	"github.com/nacos-group/nacos-sdk-go/vo"
)

// namingChecks is what a user does with services and instances through the Go client.
func (s setup) namingChecks(r *report) {
	r.check("naming: a registered instance is listed with all it says", s.fields)
	r.check("naming: an unknown service has no instances", func() string {
		same("", s.list("unknown", ""))
		return ""
	})
	r.check("naming: clusters select instances", s.clusters)
	r.check("naming: healthy and enabled instances are selected", s.selection)
	r.check("naming: groups and namespaces are separate", s.apart)
	r.check("naming: a deregistered instance leaves the list", s.leaves)
	r.check("naming: an instance is modified", s.modify)
	r.check("naming: the services of a group are listed", s.serviceList)
}

func instance(service string, port uint64) vo.RegisterInstanceParam {
	return vo.RegisterInstanceParam{
		ServiceName: service, Ip: "127.0.0.1", Port: port, Weight: 1, Enable: true, Healthy: true, Ephemeral: true,
	}
}

func (s setup) register(client naming_client.INamingClient, wanted vo.RegisterInstanceParam) {
	wanted.ServiceName += s.run
	done, err := client.RegisterInstance(wanted)
	must(err)
	same(true, done)
}

func (s setup) deregister(client naming_client.INamingClient, gone vo.DeregisterInstanceParam) {
	gone.ServiceName += s.run
	gone.Ip, gone.Ephemeral = "127.0.0.1", true
	done, err := client.DeregisterInstance(gone)
	must(err)
	same(true, done)
}

// hosts reads through a fresh client, because the library never forgets the last instance of a service.
func (s setup) hosts(service, namespace string, clusters ...string) []model.Instance {
	hosts, err := s.naming(namespace).SelectAllInstances(vo.SelectAllInstancesParam{
		ServiceName: service + s.run, Clusters: clusters,
	})
	must(err)
	return hosts
}

func (s setup) list(service, namespace string, clusters ...string) string {
	return ports(s.hosts(service, namespace, clusters...))
}

func ports(hosts []model.Instance) string {
	var all []string
	for _, host := range hosts {
		all = append(all, fmt.Sprint(host.Port))
	}
	sort.Strings(all)
	return strings.Join(all, ",")
}

func (s setup) fields() string {
	wanted := instance("fields", 8080)
	wanted.Weight, wanted.ClusterName = 2.5, "c1"
	wanted.Metadata = map[string]string{"zone": "a", "text": "ü + 100% \"x\"", "line": "a\nb"}
	s.register(s.naming(""), wanted)
	// Its beats carry the metadata unescaped: they must not spoil what was registered.
	time.Sleep(500 * time.Millisecond)
	seen := s.hosts("fields", "")[0]
	grouped := group + "@@fields" + s.run
	same(model.Instance{
		InstanceId: "127.0.0.1#8080#c1#" + grouped, Port: 8080, Ip: "127.0.0.1", Weight: 2.5, Metadata: wanted.Metadata,
		ClusterName: "c1", ServiceName: "fields" + s.run, Enable: true, Healthy: true, Ephemeral: true, Valid: true,
	}, seen)
	return ""
}

func (s setup) clusters() string {
	client := s.naming("")
	for port, cluster := range []string{"", "c1", "c2"} {
		wanted := instance("clusters", uint64(port+1))
		wanted.ClusterName = cluster
		s.register(client, wanted)
	}
	same("1,2,3", s.list("clusters", ""))
	same("3", s.list("clusters", "", "c2"))
	same("1,2", s.list("clusters", "", "c1", "DEFAULT"))
	return ""
}

func (s setup) selection() string {
	client := s.naming("")
	s.register(client, instance("healthy", 1))
	ill := instance("healthy", 2)
	ill.Ip, ill.Healthy, ill.Ephemeral = "127.0.0.1", false, false
	s.register(client, ill)
	disabled := instance("healthy", 3)
	disabled.Enable = false
	s.register(client, disabled)
	same("1,2", s.list("healthy", ""))
	for wanted, healthy := range map[string]bool{"1": true, "2": false} {
		hosts, err := client.SelectInstances(vo.SelectInstancesParam{ServiceName: "healthy" + s.run, HealthyOnly: healthy})
		must(err)
		same(wanted, ports(hosts))
	}
	one, err := client.SelectOneHealthyInstance(vo.SelectOneHealthInstanceParam{ServiceName: "healthy" + s.run})
	must(err)
	same(uint64(1), one.Port)
	return ""
}

func (s setup) apart() string {
	client := s.naming("")
	s.register(client, instance("apart", 1))
	grouped := instance("apart", 2)
	grouped.GroupName = "G2"
	s.register(client, grouped)
	s.register(s.naming("other-namespace"), instance("apart", 3))
	same("1", s.list("apart", ""))
	same("3", s.list("apart", "other-namespace"))
	hosts, err := client.SelectAllInstances(vo.SelectAllInstancesParam{ServiceName: "apart" + s.run, GroupName: "G2"})
	must(err)
	same("2", ports(hosts))
	return ""
}

func (s setup) leaves() string {
	client := s.naming("")
	s.register(client, instance("leaves", 1))
	second := instance("leaves", 2)
	second.ClusterName = "c2"
	s.register(client, second)
	same("1,2", s.list("leaves", ""))
	// A first beat that is still on its way would bring the instance back.
	time.Sleep(time.Second)
	s.deregister(client, vo.DeregisterInstanceParam{ServiceName: "leaves", Port: 2, Cluster: "c2"})
	same("1", s.list("leaves", ""))
	s.deregister(client, vo.DeregisterInstanceParam{ServiceName: "leaves", Port: 1})
	same("", s.list("leaves", ""))
	return ""
}

func (s setup) modify() string {
	client := s.naming("")
	wanted := instance("modified", 1)
	wanted.Metadata = map[string]string{"zone": "a"}
	s.register(client, wanted)
	changed := vo.UpdateInstanceParam{
		ServiceName: "modified" + s.run, Ip: "127.0.0.1", Port: 1, Weight: 7, Enable: true, Ephemeral: true,
		Metadata: map[string]string{"zone": "b", "text": "ü/x=1"},
	}
	done, err := client.UpdateInstance(changed)
	must(err)
	same(true, done)
	seen := s.hosts("modified", "")[0]
	same(7.0, seen.Weight)
	same(changed.Metadata, seen.Metadata)
	changed.Enable = false
	_, err = client.UpdateInstance(changed)
	must(err)
	same("", s.list("modified", ""))
	return ""
}

func (s setup) serviceList() string {
	client := s.naming("listed-" + s.run)
	for service, in := range map[string]string{"s1": "GL", "s2": "GL", "s3": "other"} {
		wanted := instance(service, 1)
		wanted.GroupName = in
		s.register(client, wanted)
	}
	seen, err := client.GetAllServicesInfo(vo.GetAllServiceInfoParam{GroupName: "GL", PageNo: 1, PageSize: 10})
	must(err)
	sort.Strings(seen.Doms)
	same(model.ServiceList{Count: 2, Doms: []string{"s1" + s.run, "s2" + s.run}}, seen)
	return ""
}
