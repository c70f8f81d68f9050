package main

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/nacos-group/nacos-sdk-go/clients/naming_client"
	"github.com/nacos-group/nacos-sdk-go/model"
	"github.com/nacos-group/nacos-sdk-go/vo"
)

// Within this time only a push can bring a change: the client polls when its list is older than cacheMillis.
const pushTime = 1300 * time.Millisecond

// livenessChecks is how changes reach a subscriber, and how beats keep instances alive.
func (s setup) livenessChecks(r *report) {
	r.check("naming: a subscriber is pushed every change at once", s.pushed)
	r.check("naming: a long list is pushed too", s.longList)
	r.check("naming: a subscriber of one cluster is pushed that cluster", s.pushedCluster)
	r.check("naming: beats keep an instance", s.beats)
	r.check("naming: beats bring back an instance that was lost", s.lost)
}

// subscribed registers port 1, subscribes, and answers a view of the ports last seen.
func (s setup) subscribed(service string, registrar naming_client.INamingClient, clusters ...string) func() string {
	first := instance(service, 1)
	if len(clusters) > 0 {
		first.ClusterName = clusters[0]
	}
	s.register(registrar, first)
	var seen atomic.Value
	seen.Store("nothing yet")
	must(s.naming("").Subscribe(&vo.SubscribeParam{
		ServiceName: service + s.run,
		Clusters:    clusters,
		SubscribeCallback: func(services []model.SubscribeService, err error) {
			var hosts []model.Instance
			for _, one := range services {
				hosts = append(hosts, model.Instance{Port: one.Port})
			}
			seen.Store(ports(hosts))
		},
	}))
	view := func() string { return seen.Load().(string) }
	until("the first instance", func() bool { return view() == "1" }, 3*time.Second)
	time.Sleep(1500 * time.Millisecond)
	return view
}

func (s setup) pushed() string {
	registrar := s.naming("")
	seen := s.subscribed("pushed", registrar)
	s.register(registrar, instance("pushed", 2))
	took := until("the second instance", func() bool { return seen() == "1,2" }, pushTime)
	for port := uint64(3); port <= 5; port++ {
		s.register(registrar, instance("pushed", port))
	}
	until("three more", func() bool { return seen() == "1,2,3,4,5" }, pushTime)
	s.deregister(registrar, vo.DeregisterInstanceParam{ServiceName: "pushed", Port: 1})
	until("one less", func() bool { return seen() == "2,3,4,5" }, pushTime)
	return took
}

func (s setup) longList() string {
	registrar := s.naming("")
	seen := s.subscribed("long", registrar)
	for port := uint64(100); port < 120; port++ {
		s.register(registrar, instance("long", port))
	}
	return until("twenty more", func() bool { return strings.Count(seen(), ",") == 20 }, pushTime)
}

func (s setup) pushedCluster() string {
	registrar := s.naming("")
	seen := s.subscribed("one-cluster", registrar, "c2", "c1")
	for port, cluster := range map[uint64]string{3: "c3", 4: "c1"} {
		wanted := instance("one-cluster", port)
		wanted.ClusterName = cluster
		s.register(registrar, wanted)
	}
	return until("the instances of both clusters", func() bool { return seen() == "1,4" }, pushTime)
}

func (s setup) lost() string {
	wanted := instance("lost", 1)
	wanted.Metadata = map[string]string{"preserved.heart.beat.interval": "500"}
	s.register(s.naming(""), wanted)
	time.Sleep(700 * time.Millisecond)
	s.deregister(s.naming(""), vo.DeregisterInstanceParam{ServiceName: "lost", Port: 1})
	return until("the instance", func() bool {
		time.Sleep(50 * time.Millisecond)
		return s.list("lost", "") == "1"
		// Beats count again ten seconds after a deregistration.
	}, 25*time.Second)
}

func (s setup) beats() string {
	wanted := instance("beats", 1)
	wanted.Metadata = map[string]string{
		"preserved.heart.beat.interval": "500",
		"preserved.heart.beat.timeout":  "1500",
		"preserved.ip.delete.timeout":   "3000",
	}
	client := s.naming("")
	s.register(client, wanted)
	time.Sleep(6 * time.Second)
	same("1", s.list("beats", ""))
	same(true, s.hosts("beats", "")[0].Healthy)
	return ""
}
