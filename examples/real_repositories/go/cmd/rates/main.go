// Command rates is an MCP server over standard input and output with one tool: the surcharge of a
// service, in cents.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

var surcharges = map[string]int{"express": 450, "insured": 275}

type object map[string]any

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Arguments       struct {
			Service string `json:"service"`
		} `json:"arguments"`
	} `json:"params"`
}

func result(m message) object {
	switch m.Method {
	case "initialize":
		return object{
			"protocolVersion": m.Params.ProtocolVersion,
			"capabilities":    object{"tools": object{}},
			"serverInfo":      object{"name": "rates", "version": "1.0.0"},
		}
	case "ping":
		return object{}
	case "tools/list":
		service := object{"type": "string", "enum": []string{"express", "insured"}}
		return object{"tools": []object{{
			"name":        "surcharge",
			"description": "Return the surcharge of a parcel service in cents.",
			"inputSchema": object{
				"type":       "object",
				"properties": object{"service": service},
				"required":   []string{"service"},
			},
		}}}
	case "tools/call":
		service := m.Params.Arguments.Service
		cents, known := surcharges[service]
		text := fmt.Sprintf("The %s surcharge is %d cents.", service, cents)
		return object{"content": []object{{"type": "text", "text": text}}, "isError": !known}
	}
	return nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked message
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil || asked.ID == nil {
			continue
		}
		reply := object{"jsonrpc": "2.0", "id": asked.ID}
		if found := result(asked); found != nil {
			reply["result"] = found
		} else {
			reply["error"] = object{"code": -32601, "message": "Unknown method."}
		}
		answers.Encode(reply)
	}
}
