package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

// A command is what is asked; each kind uses some of the fields.
type command struct {
	Id        int           `json:"id"`
	Do        string        `json:"do"`
	Client    string        `json:"client"`
	Servers   string        `json:"servers"`
	Namespace string        `json:"namespace"`
	Username  string        `json:"username"`
	Password  string        `json:"password"`
	TimeoutMs uint64        `json:"requestTimeout"`
	DataId    string        `json:"dataId"`
	Group     string        `json:"group"`
	Content   string        `json:"content"`
	Watch     string        `json:"watch"`
	Service   string        `json:"service"`
	Clusters  []string      `json:"clusters"`
	Instance  shownInstance `json:"instance"`
}

// A shownInstance is an instance as the commands and answers name it.
type shownInstance struct {
	Ip        string            `json:"ip"`
	Port      uint64            `json:"port"`
	Cluster   string            `json:"cluster"`
	Weight    float64           `json:"weight"`
	Healthy   bool              `json:"healthy"`
	Enabled   bool              `json:"enabled"`
	Ephemeral bool              `json:"ephemeral"`
	Metadata  map[string]string `json:"metadata"`
}

var (
	opened  sync.Map
	printer sync.Mutex
)

// obeyCommands answers lines of JSON, {"id":1,"do":"read","client":"a",…}, with {"id":1,"value":…} or {"id":1,"error":"…"}, and
// prints {"watch":"w1","heard":…} for what a listener is told.
func obeyCommands() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(make([]byte, 1<<20), 16<<20)
	for input.Scan() {
		var asked command
		must(json.Unmarshal(input.Bytes(), &asked))
		go obey(asked)
	}
}

func obey(asked command) {
	answer := map[string]any{"id": asked.Id}
	defer func() {
		if failure := recover(); failure != nil {
			answer["error"] = fmt.Sprint(failure)
		}
		printLine(answer)
	}()
	if asked.Do == "open" {
		opened.Store(asked.Client, &client{spec: asked})
		answer["value"] = true
		return
	}
	known, found := opened.Load(asked.Client)
	if !found {
		panic("unknown client " + asked.Client)
	}
	answer["value"] = known.(*client).obey(asked)
}

func tell(watch string, heard any) {
	printLine(map[string]any{"watch": watch, "heard": heard})
}

func printLine(line any) {
	printer.Lock()
	defer printer.Unlock()
	must(json.NewEncoder(os.Stdout).Encode(line))
}

func sure[T any](value T, err error) T {
	must(err)
	return value
}
