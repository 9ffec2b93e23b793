package swap

import (
	"crypto/rand"
	"errors"
	"math/big"
	"strings"
)

// prefixes are beginnings of keys by which tools recognise a kind; they are public. A longer
// one comes before a shorter one with the same beginning.
var prefixes = []string{
	"github_pat_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "glpat-", "gldt-", "glcbt-",
	"sk-ant-api03-", "sk-ant-oat01-", "sk-ant-", "sk-proj-", "sk-svcacct-", "sk-or-v1-", "sk-",
	"xoxb-", "xoxp-", "xapp-", "npm_", "pypi-", "hf_", "AIza", "gsk_", "xai-", "pplx-", "r8_",
	"dop_v1_", "cio", "rubygems_", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "SG.",
	"lin_api_", "ntn_", "secret_", "dckr_pat_", "hvs.", "AKIA", "ASIA", "ATATT", "figd_", "nvapi-",
}

const (
	digits   = "0123456789"
	lowerHex = digits + "abcdef"
	upperHex = digits + "ABCDEF"
	lowerNum = digits + "abcdefghijklmnopqrstuvwxyz"
	alphanum = lowerNum + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// choosePlaceholder makes the placeholder, or takes the one that is given.
func (s *secret) choosePlaceholder(given string) error {
	s.placeholder = given
	if given == "" {
		s.placeholder = placeholderFor(s.value)
	}
	if s.placeholder == s.value || shape(s.placeholder) != shape(s.value) {
		return errors.New("its placeholder must be another text of the same length, with the same characters between letters and digits")
	}
	return nil
}

// shape is a text with all letters and digits made equal.
func shape(text string) string {
	out := []byte(text)
	for i, c := range out {
		if strings.IndexByte(alphanum, c) >= 0 {
			out[i] = 'x'
		}
	}
	return string(out)
}

// placeholderFor returns a random text of the length and shape of a value: it keeps a known
// beginning, and everything that is not a letter or digit where it is. So each encoded form
// of it has the length of that form of the value, too, and can replace it in a reply.
func placeholderFor(value string) string {
	kept := 0
	for _, p := range prefixes {
		if strings.HasPrefix(value, p) && letters(value[len(p):]) >= minValue {
			kept = len(p)
			break
		}
	}
	for {
		if out := value[:kept] + scramble(value[kept:]); out != value {
			return out
		}
	}
}

// letters counts the letters and digits of a text.
func letters(text string) int {
	n := 0
	for i := range len(text) {
		if strings.IndexByte(alphanum, text[i]) >= 0 {
			n++
		}
	}
	return n
}

// scramble replaces each letter and digit of a text by one of the same alphabet.
func scramble(text string) string {
	set := alphabetOf(text)
	out := []byte(text)
	for i, c := range out {
		if strings.IndexByte(alphanum, c) >= 0 {
			out[i] = set[pick(len(set))]
		}
	}
	return string(out)
}

// alphabetOf returns the narrowest common alphabet of the letters and digits of a text.
func alphabetOf(text string) string {
	for _, set := range []string{digits, lowerHex, upperHex, lowerNum} {
		fits := true
		for i := range len(text) {
			fits = fits && (strings.IndexByte(alphanum, text[i]) < 0 || strings.IndexByte(set, text[i]) >= 0)
		}
		if fits {
			return set
		}
	}
	return alphanum
}

func pick(n int) int {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		return 0 // crypto/rand never fails: it ends the program instead
	}
	return int(i.Int64())
}
