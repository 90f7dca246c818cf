package drivers

import "log/slog"

// Secret is a password. Every way of printing it gives asterisks; only
// Reveal gives the text.
type Secret struct{ text string }

const redacted = "***"

// NewSecret wraps a password.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal is the password itself, for the login packet and nothing else.
func (s Secret) Reveal() string { return s.text }

// IsSet says whether a password was given.
func (s Secret) IsSet() bool { return s.text != "" }

// String gives asterisks, or nothing where no password was given.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return redacted
}

// GoString gives what String gives, for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText gives what String gives, for JSON and TOML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue gives what String gives, for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
