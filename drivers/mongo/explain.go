package mongo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"insertbench/drivers"

	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/description"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// explain makes a sentence of a failed connection from what the servers
// answered, in the order in which a user would look for the cause.
func explain(err error, c Config, o *options.ClientOptions, w *watch) error {
	target := RedactURI(c.URI)
	if sentence := explainLogin(err, o); sentence != "" {
		return drivers.Connectf("%s: %s", target, sentence)
	}
	failures, answers := w.seen()
	if sentence := explainReplicaSet(o, answers); sentence != "" {
		return drivers.Connectf("%s: %s", target, sentence)
	}
	for _, host := range sortedKeys(failures) {
		return drivers.Connectf("%s: %s", target, explainHost(host, failures[host], o, c))
	}
	return drivers.Connectf("%s did not answer within %s (%s); is a server there, and does it speak the MongoDB protocol?", target, c.ConnectTimeout, c.redact(err))
}

// Server error codes (src/mongo/base/error_codes.yml of mongodb/mongo).
const (
	codeInternalError         = 1
	codeBadValue              = 2
	codeHostUnreachable       = 6
	codeHostNotFound          = 7
	codeUnknownError          = 8
	codeUnauthorized          = 13
	codeAuthenticationFailed  = 18
	codeNamespaceNotFound     = 26
	codeNamespaceExists       = 48
	codeMaxTimeMSExpired      = 50
	codeCommandNotFound       = 59
	codeNetworkTimeout        = 89
	codeShutdownInProgress    = 91
	codeWriteConflict         = 112
	codeDocumentValidation    = 121
	codePrimarySteppedDown    = 189
	codeCursorKilled          = 237
	codeNoSuchTransaction     = 251
	codeExceededTimeLimit     = 262
	codeMechanismUnavailable  = 334
	codeSocketException       = 9001
	codeNotWritablePrimary    = 10107
	codeBSONObjectTooLarge    = 10334
	codeDuplicateKey          = 11000
	codeInterruptedAtShutdown = 11600
	codeInterrupted           = 11601
	codeInterruptedByReplica  = 11602
	codeNotPrimaryNoSecondary = 13435
	codeNotPrimaryOrSecondary = 13436
)

// explainLogin is for a server that answered and refused the login.
func explainLogin(err error, o *options.ClientOptions) string {
	var ce mongo.CommandError
	text := err.Error()
	if !strings.Contains(text, "auth error") && !errors.As(err, &ce) {
		return ""
	}
	user, mechanism := "", "the server's default mechanism"
	if o.Auth != nil {
		user = o.Auth.Username
		if o.Auth.AuthMechanism != "" {
			mechanism = o.Auth.AuthMechanism
		}
	}
	switch {
	case ce.Code == codeUnauthorized && user == "":
		return fmt.Sprintf("the server wants a login: %s; give --user and a password", serverWords(err))
	case ce.Code == codeUnauthorized:
		return fmt.Sprintf("user %q may not use the database: %s; grant it readWrite there", user, serverWords(err))
	case !strings.Contains(text, "auth error"):
		return ""
	case strings.Contains(text, "echanism") && !strings.Contains(text, "Authentication failed"):
		return fmt.Sprintf("the login of %q with %s was refused: %s; try another authMechanism, such as SCRAM-SHA-256 or SCRAM-SHA-1", user, mechanism, lastCause(text))
	default:
		return fmt.Sprintf("the login of %q was refused: %s; check the user, the password and authSource", user, lastCause(text))
	}
}

// lastCause is the end of the client's chain of colons: the server's words.
func lastCause(text string) string {
	text = strings.TrimSuffix(text, ".")
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return text[i+2:]
	}
	return text
}

// explainReplicaSet is for servers that answered, without one to write to.
func explainReplicaSet(o *options.ClientOptions, answers map[string]description.Server) string {
	wanted := ""
	if o.ReplicaSet != nil {
		wanted = *o.ReplicaSet
	}
	for _, host := range sortedKeys(answers) {
		s := answers[host]
		switch {
		case wanted != "" && s.SetName == "":
			return fmt.Sprintf("%s answers, but is no member of a replica set; leave replicaSet=%s out of the URI", host, wanted)
		case wanted != "" && s.SetName != wanted:
			return fmt.Sprintf("%s answers as a member of replica set %q, not %q; correct replicaSet in the URI", host, s.SetName, wanted)
		}
	}
	for _, host := range sortedKeys(answers) {
		if s := answers[host]; s.SetName != "" {
			return fmt.Sprintf("%s answers as a member of replica set %q, but no primary could be reached among %s; wait for an election, or make those names known here",
				host, s.SetName, strings.Join(s.Hosts, ", "))
		}
	}
	return ""
}

// explainHost is for a server that didn't answer a heartbeat.
func explainHost(host string, err error, o *options.ClientOptions, c Config) string {
	var dns *net.DNSError
	var timeout net.Error
	usesTLS := o.TLSConfig != nil
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s (connection refused); start the server, or correct the address", host)
	case errors.Is(err, syscall.ENOENT):
		return fmt.Sprintf("there is no socket %s; start the server, or correct the path", host)
	case errors.As(err, &dns):
		return fmt.Sprintf("the name %s is not known (%s); correct the host name", dns.Name, dns.Err)
	case isTLS(err):
		return fmt.Sprintf("no TLS with %s: %s; check tls=true, tlsCAFile and the host's name in the certificate", host, c.redact(err))
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("%s accepted no connection, or gave no answer, within %s; is it a server that speaks the MongoDB protocol, and is it up?", host, c.ConnectTimeout)
	case usesTLS && errors.Is(err, io.EOF):
		return fmt.Sprintf("no TLS with %s: it closed the connection at the handshake; if it doesn't speak TLS leave tls=true out, else check tlsCAFile and tlsCertificateKeyFile", host)
	case !usesTLS && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)):
		return fmt.Sprintf("%s closed the connection at the first message; if it wants TLS, add tls=true", host)
	default:
		return fmt.Sprintf("%s can't be used: %s", host, c.redact(err))
	}
}

// isTLS says whether an error came from the handshake or a certificate.
func isTLS(err error) bool {
	var (
		record    tls.RecordHeaderError
		alert     tls.AlertError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
	)
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) ||
		errors.As(err, &authority) || errors.As(err, &name)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
