package main

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nacos-group/nacos-sdk-go/vo"
)

// lastingChecks is what goes on for longer than a token counts, while the server restarts.
func (s setup) lastingChecks(r *report, milliseconds string) {
	number, err := strconv.Atoi(milliseconds)
	must(err)
	lasting := time.Duration(number) * time.Millisecond
	r.check("sign-in: a watcher hears of changes after its token has been replaced", func() string {
		client := s.config("")
		s.publish(client, "lasting", "first")
		var seen atomic.Value
		seen.Store("")
		must(s.config("").ListenConfig(vo.ConfigParam{
			DataId:   "lasting" + s.run,
			Group:    group,
			OnChange: func(_, _, _, content string) { seen.Store(content) },
		}))
		time.Sleep(lasting)
		s.publish(client, "lasting", "last")
		return until("the last content", func() bool { return seen.Load() == "last" }, 10*time.Second)
	})
	r.check("sign-in: beats keep an instance after the token has been replaced", func() string {
		client := s.naming("")
		s.register(client, instance("lasting", 8080))
		time.Sleep(lasting)
		hosts, err := s.naming("").SelectInstances(vo.SelectInstancesParam{ServiceName: "lasting" + s.run, HealthyOnly: true})
		must(err)
		same("8080", ports(hosts))
		return ""
	})
	r.check("sign-in: what the user has no permission for is refused", func() string {
		done, err := s.config("forbidden").PublishConfig(vo.ConfigParam{DataId: "refused" + s.run, Group: group, Content: "x"})
		if err == nil && done {
			panic("nothing was refused")
		}
		return ""
	})
}
