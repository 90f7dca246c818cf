package mongo

import (
	"fmt"
	"strings"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/bson"
)

// Limits of a server that doesn't tell its own (MongoDB manual, "MongoDB
// Limits and Thresholds").
const (
	defaultMaxDocumentBytes = 16 << 20
	defaultMaxMessageBytes  = 48_000_000
	defaultMaxBatch         = 100_000
)

// hello is what a server says of its role and limits.
type hello struct {
	IsWritablePrimary bool     `bson:"isWritablePrimary"`
	IsMaster          bool     `bson:"ismaster"`
	Secondary         bool     `bson:"secondary"`
	ReadOnly          bool     `bson:"readOnly"`
	SetName           string   `bson:"setName"`
	Primary           string   `bson:"primary"`
	Hosts             []string `bson:"hosts"`
	Msg               string   `bson:"msg"`
	MaxDocumentBytes  int      `bson:"maxBsonObjectSize"`
	MaxMessageBytes   int      `bson:"maxMessageSizeBytes"`
	MaxBatch          int      `bson:"maxWriteBatchSize"`
	// hints are the names of fields that only other products have.
	hints []string
}

func parseHello(raw bson.Raw) (hello, error) {
	var h hello
	if err := bson.Unmarshal(raw, &h); err != nil {
		return hello{}, fmt.Errorf("the server's hello can't be read: %w", err)
	}
	if h.MaxDocumentBytes == 0 {
		h.MaxDocumentBytes = defaultMaxDocumentBytes
	}
	if h.MaxMessageBytes == 0 {
		h.MaxMessageBytes = defaultMaxMessageBytes
	}
	if h.MaxBatch == 0 {
		h.MaxBatch = defaultMaxBatch
	}
	h.hints = foreignFields(raw)
	return h, nil
}

func (h hello) isMongos() bool { return h.Msg == "isdbgrid" }

// mustBeWritable refuses a server that takes no writes.
func (h hello) mustBeWritable(address string) error {
	switch {
	case h.Secondary:
		primary := "it knows of no primary"
		if h.Primary != "" {
			primary = "its primary is " + h.Primary
		}
		return drivers.Connectf("%s is a secondary of replica set %q and takes no writes; %s: connect there, or drop directConnection and give replicaSet=%s",
			address, h.SetName, primary, h.SetName)
	case h.ReadOnly:
		return drivers.Connectf("%s runs read-only and takes no writes; start it without its read-only mode", address)
	case !h.IsWritablePrimary && !h.IsMaster:
		return drivers.Connectf("%s is not the primary and takes no writes; connect to the primary, or give replicaSet in the URI", address)
	}
	return nil
}

// foreignFields are top-level field names that say whose server this is.
func foreignFields(raw bson.Raw) []string {
	elements, err := raw.Elements()
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range elements {
		key := strings.ToLower(e.Key())
		for _, word := range foreignWords {
			if strings.Contains(key, word) {
				found = append(found, e.Key())
			}
		}
	}
	return found
}

// foreignWords are parts of field names that servers other than mongod and
// mongos put into hello, buildInfo or serverStatus.
var foreignWords = []string{"ferretdb", "documentdb", "cosmos", "azure", "tokumx"}
