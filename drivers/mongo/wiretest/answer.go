package wiretest

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

// failure is an error reply. Codes and names are those of mongod
// (src/mongo/base/error_codes.yml of mongodb/mongo).
func failure(code int32, name, message string) bson.D {
	return bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: message}, {Key: "code", Value: code}, {Key: "codeName", Value: name}}
}

// Failure is an error reply for a Script, with labels.
func Failure(code int32, name, message string, labels ...string) bson.D {
	d := failure(code, name, message)
	if len(labels) > 0 {
		d = append(d, bson.E{Key: "errorLabels", Value: labels})
	}
	return d
}

// WriteConcernFailure is the reply to an insert that happened, but wasn't
// acknowledged as asked.
func WriteConcernFailure(n, code int32, name, message string) bson.D {
	return bson.D{{Key: "n", Value: n}, {Key: "ok", Value: 1.0},
		{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: code}, {Key: "codeName", Value: name}, {Key: "errmsg", Value: message}}}}
}

func succeed(more ...bson.E) bson.D {
	return append(bson.D(more), bson.E{Key: "ok", Value: 1.0})
}

// ending is how a connection goes on after a command.
type ending int

const (
	goOn ending = iota
	hang
	cut
)

// answer records a command, follows the script, and gives the reply.
func (s *Server) answer(q request, sess *session) (bson.D, ending) {
	name := commandName(q.body)
	step, scripted := s.record(q, name, sess)
	if !scripted {
		return s.execute(q, name, sess), goOn
	}
	select {
	case <-time.After(step.Delay):
	case <-s.done:
	}
	own := bson.D(nil)
	if step.Execute {
		own = s.execute(q, name, sess)
	}
	switch {
	case step.Hang:
		return nil, hang
	case step.Cut:
		return nil, cut
	case step.Reply != nil:
		return step.Reply, goOn
	default:
		return own, goOn
	}
}

// record notes a command and takes the next step of its script. Handshakes
// follow the script too, but don't use it up.
func (s *Server) record(q request, name string, sess *session) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[name]++
	if !s.config.Discard {
		s.commands = append(s.commands, Command{Name: name, DB: q.db, Body: slices.Clone(q.body), Conn: sess.number})
	}
	steps := s.script[name]
	if len(steps) == 0 {
		return Step{}, false
	}
	s.script[name] = steps[1:]
	return steps[0], true
}

func commandName(body bson.Raw) string {
	elements, err := body.Elements()
	if err != nil || len(elements) == 0 {
		return ""
	}
	return elements[0].Key()
}

// withoutLogin are the commands that need no login.
var withoutLogin = []string{"hello", "isMaster", "ismaster", "saslStart", "saslContinue", "ping", "endSessions", "buildInfo"}

func (s *Server) execute(q request, name string, sess *session) bson.D {
	if s.config.User != "" && !sess.loggedIn && !slices.Contains(withoutLogin, name) {
		return failure(13, "Unauthorized", "Command "+name+" requires authentication")
	}
	if s.config.Secondary && slices.Contains([]string{"insert", "create", "drop", "createIndexes", "delete"}, name) {
		return failure(10107, "NotWritablePrimary", "not primary")
	}
	switch name {
	case "hello", "isMaster", "ismaster":
		if s.config.NoHello && name == "hello" {
			return failure(59, "CommandNotFound", "no such command: 'hello'")
		}
		return s.hello(q)
	case "saslStart", "saslContinue":
		return s.sasl(q, name, sess)
	case "ping", "endSessions":
		return succeed()
	case "buildInfo":
		return s.orElse(s.config.BuildInfo, mongodBuildInfo)
	case "serverStatus":
		return s.orElse(s.config.Status, mongodStatus)
	case "getCmdLineOpts":
		return s.orElse(s.config.CmdLine, mongodCmdLine)
	case "dbStats":
		return s.orElse(s.config.DBStats, mongodDBStats)
	case "collStats":
		return s.orElse(s.config.CollStats, mongodCollStats)
	case "getParameter":
		return succeed(bson.E{Key: "featureCompatibilityVersion", Value: bson.D{{Key: "version", Value: "7.0"}}})
	case "getDefaultRWConcern":
		return succeed(bson.E{Key: "defaultWriteConcern", Value: bson.D{{Key: "w", Value: "majority"}, {Key: "wtimeout", Value: int32(0)}}},
			bson.E{Key: "defaultWriteConcernSource", Value: "implicit"})
	default:
		return s.store.execute(q, name, s.config)
	}
}

func (s *Server) orElse(given, own bson.D) bson.D {
	if given != nil {
		return succeed(given...)
	}
	return succeed(own...)
}

// hello is the answer of a mongod 7.0 in its role.
func (s *Server) hello(q request) bson.D {
	d := bson.D{{Key: "helloOk", Value: !s.config.NoHello}, {Key: "isWritablePrimary", Value: !s.config.Secondary}, {Key: "ismaster", Value: !s.config.Secondary}}
	if s.config.Mongos {
		d = append(d, bson.E{Key: "msg", Value: "isdbgrid"})
	}
	if s.config.ReplicaSet != "" {
		hosts := s.config.Hosts
		if hosts == nil {
			hosts = []string{s.Address()}
		}
		d = append(d, bson.E{Key: "setName", Value: s.config.ReplicaSet}, bson.E{Key: "setVersion", Value: int32(1)},
			bson.E{Key: "secondary", Value: s.config.Secondary}, bson.E{Key: "hosts", Value: hosts}, bson.E{Key: "me", Value: s.Address()})
		if s.config.Secondary {
			d = append(d, bson.E{Key: "primary", Value: hosts[0]})
		} else {
			d = append(d, bson.E{Key: "primary", Value: s.Address()})
		}
	}
	d = append(d, bson.E{Key: "maxBsonObjectSize", Value: int32(16 << 20)}, bson.E{Key: "maxMessageSizeBytes", Value: int32(maxMessage)},
		bson.E{Key: "maxWriteBatchSize", Value: int32(100_000)}, bson.E{Key: "localTime", Value: time.Unix(0, 0)},
		bson.E{Key: "minWireVersion", Value: int32(0)}, bson.E{Key: "maxWireVersion", Value: int32(21)}, bson.E{Key: "readOnly", Value: false})
	if s.config.ReplicaSet != "" || s.config.Mongos || s.config.Transactions != Refused {
		d = append(d, bson.E{Key: "logicalSessionTimeoutMinutes", Value: int32(30)})
	}
	if _, err := q.body.LookupErr("saslSupportedMechs"); err == nil {
		d = append(d, bson.E{Key: "saslSupportedMechs", Value: bson.A{"SCRAM-SHA-256"}})
	}
	return succeed(overlay(d, s.config.Hello)...)
}

// overlay replaces fields of d by those of over, and adds new ones.
func overlay(d, over bson.D) bson.D {
	for _, e := range over {
		i := slices.IndexFunc(d, func(have bson.E) bool { return have.Key == e.Key })
		if i < 0 {
			d = append(d, e)
		} else {
			d[i] = e
		}
	}
	return d
}
