package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// A report runs checks side by side and prints one JSON line for each.
type report struct {
	running sync.WaitGroup
	printer sync.Mutex
}

type line struct {
	Name   string `json:"name"`
	Ok     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// check runs a body whose answer is the detail to print, and whose failure is a panic.
func (r *report) check(name string, body func() string) {
	r.running.Add(1)
	go func() {
		defer r.running.Done()
		result := line{Name: name}
		func() {
			defer func() {
				if failure := recover(); failure != nil {
					result.Detail = fmt.Sprint(failure)
				}
			}()
			result.Detail = body()
			result.Ok = true
		}()
		r.printer.Lock()
		defer r.printer.Unlock()
		must(json.NewEncoder(os.Stdout).Encode(result))
	}()
}

func (r *report) wait() {
	r.running.Wait()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// same panics unless both values print alike.
func same(wanted, seen any) {
	if fmt.Sprintf("%#v", wanted) != fmt.Sprintf("%#v", seen) {
		panic(fmt.Sprintf("wanted %#v, got %#v", wanted, seen))
	}
}

// until waits for the probe to say true, and says how long that took.
func until(what string, probe func() bool, within time.Duration) string {
	begun := time.Now()
	for !probe() {
		if time.Since(begun) > within {
			panic(fmt.Sprintf("%s: not seen within %v", what, within))
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Sprintf("%s seen after %v", what, time.Since(begun).Round(time.Millisecond))
}
