// Checks with Porcupine whether recorded operations on registers are linearizable. It reads a JSON array of operations and
// prints, as a JSON object, the keys that are not linearizable and those that could not be decided in time.
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
	// put, compare-and-set or read. A put of null is a delete.
	Kind     string  `json:"kind"`
	Value    *string `json:"value"`
	Expected *string `json:"expected"`
	Seen     *string `json:"seen"`
	// Of a compare-and-set: whether it has changed something; null if nobody knows.
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

var register = porcupine.Model{
	Init: func() any { return (*string)(nil) },
	Step: func(state, input, _ any) (bool, any) {
		now, op := state.(*string), input.(operation)
		switch op.Kind {
		case "read":
			return same(now, op.Seen), now
		case "compare-and-set":
			holds := same(now, op.Expected)
			if op.Changed != nil && *op.Changed != holds {
				return false, now
			}
			if holds {
				return true, op.Value
			}
			return true, now
		default:
			return true, op.Value
		}
	},
	Equal: func(one, other any) bool { return same(one.(*string), other.(*string)) },
	Hash: func(state any) uint64 {
		hash := uint64(14695981039346656037)
		if text := state.(*string); text != nil {
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
