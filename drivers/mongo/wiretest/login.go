package wiretest

import (
	"github.com/xdg-go/scram"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"
)

// login is a SCRAM-SHA-256 conversation (RFC 7677).
type login struct{ conversation *scram.ServerConversation }

func (s *Server) sasl(q request, name string, sess *session) bson.D {
	refused := failure(18, "AuthenticationFailed", "Authentication failed.")
	if name == "saslStart" {
		if mechanism, _ := q.body.Lookup("mechanism").StringValueOK(); mechanism != "SCRAM-SHA-256" {
			return failure(334, "MechanismUnavailable", "Unsupported mechanism "+mechanism+". Received command "+name)
		}
		server, err := scram.SHA256.NewServer(s.credentials)
		if err != nil {
			return refused
		}
		sess.login = &login{conversation: server.NewConversation()}
	}
	if sess.login == nil {
		return refused
	}
	_, payload, ok := q.body.Lookup("payload").BinaryOK()
	if !ok {
		return refused
	}
	answer, err := sess.login.conversation.Step(string(payload))
	if err != nil {
		return refused
	}
	done := sess.login.conversation.Done()
	sess.loggedIn = done && sess.login.conversation.Valid()
	return succeed(bson.E{Key: "conversationId", Value: int32(1)}, bson.E{Key: "done", Value: done},
		bson.E{Key: "payload", Value: primitive.Binary{Data: []byte(answer)}})
}

// iterations is the least that the client accepts.
const iterations = 4096

func (s *Server) credentials(user string) (scram.StoredCredentials, error) {
	if user != s.config.User {
		return scram.StoredCredentials{}, errUnknownUser
	}
	client, err := scram.SHA256.NewClient(s.config.User, s.config.Password, "")
	if err != nil {
		return scram.StoredCredentials{}, err
	}
	return client.GetStoredCredentials(scram.KeyFactors{Salt: "salt of a test", Iters: iterations}), nil
}
