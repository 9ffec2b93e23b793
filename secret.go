package hermes

import "log/slog"

// Secret is a text that must not be shown. It prints, logs and marshals as
// "***". Only Reveal returns its value, so that every use is easy to find.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the value.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// GoString hides the value from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the value in JSON, YAML and other encodings.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the value in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
