package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nacos-group/nacos-sdk-go/clients/config_client"
	"github.com/nacos-group/nacos-sdk-go/vo"
)

const awkward = "plain=1\r\nplus=a+b\n%percent=100%\n%41&x=y;z\t\"quoted\" \\back\u00fcmlaut 日本語 😀\n\n"

// configChecks is what a user does with configurations through the Go client.
func (s setup) configChecks(r *report) {
	client := s.config("")
	r.check("config: published content is read back", func() string { return s.roundTrip(client, "read", "a: 1") })
	r.check("config: an update replaces the content", func() string {
		s.roundTrip(client, "update", "one")
		return s.roundTrip(s.config(""), "update", "two")
	})
	r.check("config: awkward content comes back byte for byte", func() string {
		return s.roundTrip(client, "awkward", awkward)
	})
	r.check("config: a large content comes back", func() string {
		return s.roundTrip(client, "large", awkward+strings.Repeat("ü+%", 400_000))
	})
	r.check("config: what does not exist is absent", func() string { return s.absent(client, "missing") })
	r.check("config: a removed item is absent", func() string {
		s.roundTrip(client, "removed", "x")
		s.remove(client, "removed")
		s.absent(client, "removed")
		s.remove(client, "removed")
		return ""
	})
	r.check("config: namespaces and groups are separate", func() string {
		other := s.config("other-namespace")
		s.roundTrip(client, "apart", "in public")
		s.absent(other, "apart")
		s.roundTrip(other, "apart", "in other")
		same("in public", s.read(s.config("public"), "apart", group))
		same("", s.read(client, "apart", "G2"))
		return ""
	})
	r.check("config: a watcher sees changes made elsewhere", func() string { return s.seesChanges("") })
	r.check("config: a watcher in a namespace sees changes made elsewhere", func() string {
		return s.seesChanges("watched-namespace")
	})
	r.check("config: a search finds items", func() string { return s.search() })
}

func (s setup) read(client config_client.IConfigClient, name, from string) string {
	content, err := client.GetConfig(vo.ConfigParam{DataId: name + s.run, Group: from})
	must(err)
	return content
}

func (s setup) publish(client config_client.IConfigClient, name, content string) {
	done, err := client.PublishConfig(vo.ConfigParam{DataId: name + s.run, Group: group, Content: content, Type: vo.YAML})
	must(err)
	same(true, done)
}

func (s setup) remove(client config_client.IConfigClient, name string) {
	done, err := client.DeleteConfig(vo.ConfigParam{DataId: name + s.run, Group: group})
	must(err)
	same(true, done)
}

func (s setup) roundTrip(client config_client.IConfigClient, name, content string) string {
	s.publish(client, name, content)
	if seen := s.read(client, name, group); seen != content {
		panic(fmt.Sprintf("another content came back, of length %d", len(seen)))
	}
	return ""
}

func (s setup) absent(client config_client.IConfigClient, name string) string {
	same("", s.read(client, name, group))
	return ""
}

func (s setup) seesChanges(namespace string) string {
	elsewhere := s.config(namespace)
	s.publish(elsewhere, "watched", "first")
	var seen atomic.Value
	seen.Store("nothing yet")
	must(s.config(namespace).ListenConfig(vo.ConfigParam{DataId: "watched" + s.run, Group: group,
		OnChange: func(_, _, _, content string) { seen.Store(content) }}))
	until("the first content", func() bool { return seen.Load() == "first" }, 3*time.Second)
	time.Sleep(500 * time.Millisecond)
	s.publish(elsewhere, "watched", awkward)
	took := until("the change", func() bool { return seen.Load() == awkward }, 3*time.Second)
	s.publish(elsewhere, "watched", "third")
	until("the second change", func() bool { return seen.Load() == "third" }, 3*time.Second)
	s.remove(elsewhere, "watched")
	until("the removal", func() bool { return seen.Load() == "" }, 3*time.Second)
	return took
}

func (s setup) search() string {
	namespace := "searched-" + s.run
	client := s.config(namespace)
	for _, name := range []string{"found-1", "found-2", "lost"} {
		s.publish(client, name, "content of "+name)
	}
	page, err := client.SearchConfig(vo.SearchConfigParam{Search: "blur", DataId: "found-*", PageNo: 1, PageSize: 1})
	must(err)
	same([]int{2, 1, 2, 1}, []int{page.TotalCount, page.PageNumber, page.PagesAvailable, len(page.PageItems)})
	page, err = client.SearchConfig(vo.SearchConfigParam{Search: "accurate", DataId: "lost" + s.run, Group: group})
	must(err)
	same(1, len(page.PageItems))
	same("content of lost", page.PageItems[0].Content)
	same(namespace, page.PageItems[0].Tenant)
	page, err = client.SearchConfig(vo.SearchConfigParam{Search: "accurate"})
	must(err)
	same(3, page.TotalCount)
	return ""
}
