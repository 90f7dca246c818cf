// Package graph names what LinkBench stores and asks for: nodes, links, counts and the ten operations.
package graph

import "fmt"

// Constants of the original.
const (
	FirstLinkType = 123456789 // type k of a graph is FirstLinkType+k
	NodeType      = 2048
	Hidden        = 0
	Visible       = 1
	MaxLinkBytes  = 255     // link payloads are shorter
	MaxNodeBytes  = 1 << 20 // node payloads are shorter
	ListLimit     = 10000   // most links one list query returns
	LinkVersion   = 0
	NodeVersion   = 1 // of a new node
	UpdateVersion = 2 // of an updated node
)

// Node is a row of the node table. Data is only valid until whatever filled the row fills the next.
type Node struct {
	ID      int64
	Type    int32
	Version int64
	TimeS   int32 // unix seconds
	Data    []byte
}

// Link is a row of the link table: an edge of one type. Data as in Node.
type Link struct {
	ID1, Type, ID2 int64
	Visibility     int8
	Version        int32
	TimeMS         int64 // unix milliseconds
	Data           []byte
}

// Count is a row of the count table: the number of visible links of an id and type.
type Count struct {
	ID, Type int64
	Count    int64
	TimeMS   int64
	Version  int64
}

// Op is one of the ten operations, in the order their percentages accumulate.
type Op uint8

// The operations.
const (
	AddLink Op = iota
	DeleteLink
	UpdateLink
	CountLinks
	MultigetLinks
	ListLinks
	AddNode
	UpdateNode
	DeleteNode
	GetNode
	Ops = 10
)

var opNames = [Ops]string{"ADD_LINK", "DELETE_LINK", "UPDATE_LINK", "COUNT_LINK", "MULTIGET_LINK", "GET_LINKS_LIST",
	"ADD_NODE", "UPDATE_NODE", "DELETE_NODE", "GET_NODE"}

// String is the name in the original's statistics.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return fmt.Sprintf("graph.Op(%d)", int(o))
}

// Key is the operation's key in a properties file, whose value is its percentage.
func (o Op) Key() string {
	return [Ops]string{"addlink", "deletelink", "updatelink", "countlink", "getlink", "getlinklist", "addnode",
		"updatenode", "deletenode", "getnode"}[o]
}

// Writes tells whether the operation changes data.
func (o Op) Writes() bool {
	switch o {
	case CountLinks, MultigetLinks, ListLinks, GetNode:
		return false
	}
	return true
}

// ByName finds an operation by its statistics name.
func ByName(name string) (Op, bool) {
	for i, n := range opNames {
		if n == name {
			return Op(i), true
		}
	}
	return 0, false
}
