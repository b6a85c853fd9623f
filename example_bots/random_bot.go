// The smallest bot, in Go: plays a random legal move. Standard library only.
// Build:  go build -o random_bot_go random_bot.go
// Run:    ./random_bot_go
// To write your own bot, change choose().
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"
)

// A map, not a struct: keys match exactly, and a field is decoded only when it is wanted.
type message map[string]json.RawMessage

func choose(legal []string, request message, rng *rand.Rand) string {
	return legal[rng.Intn(len(legal))] // the cards are in request["state"]
}

func main() {
	rng := rand.New(rand.NewSource(time.Now().UnixNano() ^ int64(os.Getpid())))
	in := bufio.NewReader(os.Stdin) // not a Scanner, which fails on lines of 64 KiB
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return // end of input
		}
		var msg message
		var kind string
		if json.Unmarshal(line, &msg) != nil || json.Unmarshal(msg["type"], &kind) != nil {
			continue
		}
		switch kind { // os.Stdout has no buffer, so there is nothing to flush
		case "hello":
			fmt.Println(`{"type":"hello","protocol":1,"name":"random-go"}`)
		case "round_start":
			var seed int64
			if json.Unmarshal(msg["seed"], &seed) == nil {
				rng.Seed(seed) // the same seed and the same requests: the same moves
			}
		case "request":
			var legal []string
			if err := json.Unmarshal(msg["legal"], &legal); err != nil {
				panic(err)
			}
			fmt.Printf("{\"type\":\"action\",\"id\":%s,\"move\":\"%s\"}\n", msg["id"], choose(legal, msg, rng))
		case "error":
			fmt.Fprintf(os.Stderr, "%s", line)
		case "bye":
			return
		}
	}
}
