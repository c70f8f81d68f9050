package main

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nacos-group/nacos-sdk-go/vo"
)

const items = 3_000

// largeChecks is what is large: a content as long as one may be, and a poll of very many items.
func (s setup) largeChecks(r *report) {
	r.check("large: a content of 10 MiB is published and read back", func() string {
		// Every byte is escaped in a form.
		return s.roundTrip(s.config(""), "large", strings.Repeat("%+ü", 10*1024*1024/4))
	})
	r.check("large: a watcher of 3,000 items sees a change of one", func() string {
		watcher := s.config("")
		var seen atomic.Value
		seen.Store("")
		for at := 0; at < items; at++ {
			must(watcher.ListenConfig(vo.ConfigParam{DataId: "watched" + s.run + "-" + strconv.Itoa(at), Group: group,
				OnChange: func(_, _, _, content string) { seen.Store(content) }}))
		}
		time.Sleep(5 * time.Second)
		done, err := s.config("").PublishConfig(vo.ConfigParam{
			DataId: "watched" + s.run + "-" + strconv.Itoa(items/2), Group: group, Content: "changed"})
		must(err)
		same(true, done)
		return until("the change", func() bool { return seen.Load() == "changed" }, 40*time.Second)
	})
}
