// Checks with Porcupine whether recorded operations on registers are linearizable. A register may have a gray value beside its own,
// which some clients see instead. It reads a JSON array of operations and
// prints, as a JSON object, the keys that are not linearizable and the keys that could not be decided in time.
package main

import (
	"encoding/json"
	"log"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// How long one key may take.
const limit = 60 * time.Second

// operation is a request of a client. Value, Expected and Seen are null where nothing is there.
type operation struct {
	Client int    `json:"client"`
	Key    string `json:"key"`
	// put, compare-and-set or read. A put of null is a delete. Besides, put-gray, promote, stop, delete (of both) and read-gray.
	Kind     string  `json:"kind"`
	Value    *string `json:"value"`
	Expected *string `json:"expected"`
	Seen     *string `json:"seen"`
	// Of a compare-and-set, promote, stop and delete: whether it has changed something; null if nobody knows.
	Changed *bool `json:"changed"`
	// Nanoseconds. End is null where no answer came: the operation may take effect at any time after its begin.
	Begin int64  `json:"begin"`
	End   *int64 `json:"end"`
}

func same(one, other *string) bool {
	if one == nil || other == nil {
		return one == other
	}
	return *one == *other
}

// values of a register. Gray is null for nearly all.
type values struct{ formal, gray *string }

// next says what there is after a change that is only made if holds, and whether the client was answered rightly.
func next(now, after values, op operation, holds bool) (bool, any) {
	if op.Changed != nil && *op.Changed != holds {
		return false, now
	}
	if holds {
		return true, after
	}
	return true, now
}

func step(state, input, _ any) (bool, any) {
	now, op := state.(values), input.(operation)
	switch op.Kind {
	case "read":
		return same(now.formal, op.Seen), now
	case "read-gray":
		if now.gray != nil {
			return same(now.gray, op.Seen), now
		}
		return same(now.formal, op.Seen), now
	case "compare-and-set":
		return next(now, values{op.Value, now.gray}, op, same(now.formal, op.Expected))
	case "put-gray":
		return true, values{now.formal, op.Value}
	case "promote":
		return next(now, values{now.gray, nil}, op, now.gray != nil)
	case "stop":
		return next(now, values{now.formal, nil}, op, now.gray != nil)
	case "delete":
		return next(now, values{}, op, now.formal != nil || now.gray != nil)
	default:
		return true, values{op.Value, now.gray}
	}
}

var register = porcupine.Model{
	Init: func() any { return values{} },
	Step: step,
	Equal: func(one, other any) bool {
		left, right := one.(values), other.(values)
		return same(left.formal, right.formal) && same(left.gray, right.gray)
	},
	Hash: func(state any) uint64 {
		hash := uint64(14695981039346656037)
		for _, text := range []*string{state.(values).formal, state.(values).gray} {
			if text == nil {
				continue
			}
			for _, char := range []byte("=" + *text) {
				hash = (hash ^ uint64(char)) * 1099511628211
			}
		}
		return hash
	},
}

func main() {
	var all []operation
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		log.Fatal(err)
	}
	histories := map[string][]porcupine.Operation{}
	for _, op := range all {
		end := int64(math.MaxInt64)
		if op.End != nil {
			end = *op.End
		}
		one := porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Begin, Return: end}
		histories[op.Key] = append(histories[op.Key], one)
	}
	result := map[string][]string{"illegal": {}, "undecided": {}}
	for key, history := range histories {
		switch porcupine.CheckOperationsTimeout(register, history, limit) {
		case porcupine.Illegal:
			result["illegal"] = append(result["illegal"], key)
		case porcupine.Unknown:
			result["undecided"] = append(result["undecided"], key)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}
