package keyfile_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"hermes/internal/keyfile"
)

func privateKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func TestKeysAreKnownByTheirContent(t *testing.T) {
	key := privateKey(t)
	wide := "\xff\xfe"
	for _, u := range utf16.Encode([]rune(key)) {
		wide += string([]byte{byte(u), byte(u >> 8)})
	}
	long := strings.Repeat("A1b2", 20)
	for name, c := range map[string]struct {
		text string
		is   bool
	}{
		"a key":                          {key, true},
		"a key in a longer text":         {"notes\n\n" + strings.Repeat("words ", 2000) + "\n" + key + "\nmore", true},
		"a key with other line breaks":   {strings.ReplaceAll(key, "\n", "\r\n"), true},
		"a key in JSON":                  {`{"k":"` + strings.ReplaceAll(key, "\n", `\n`) + `"}`, true},
		"a key in UTF-16":                {wide, true},
		"a PGP key":                      {"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n" + long + "\n", true},
		"a PuTTY key":                    {"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n", true},
		"a Java key store":               {"\xfe\xed\xfe\xed\x00\x00\x00\x02", true},
		"a PKCS #12 store":               {"\x30\x82\x0a\x10\x02\x01\x03\x30\x82\x09\xd6\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01\xa0\x82\x09\xc7\x04\x82\x09\xc3" + strings.Repeat("\x00", 40), true},
		"a KeePass database":             {"\x03\xd9\xa2\x9a\x67\xfb\x4b\xb5", true},
		"a vault":                        {"$ANSIBLE_VAULT;1.1;AES256\n3338", true},
		"an npm login":                   {"//registry.npmjs.org/:_authToken=npm_aB3dE6gH9jK2mN5pQ8sT1vW4xY7z\n", true},
		"an npm login of a variable":     {"//registry.npmjs.org/:_authToken=${NPM_TOKEN}\n", false},
		"logins of git":                  {"https://ada:ghp_aB3dE6gH9jK2mN5pQ8sT1vW4xY7z@github.com\n", true},
		"a link":                         {"https://github.com/ada/x\n", false},
		"netrc":                          {"machine example.org login ada password hunter22\n", true},
		"docker":                         {`{"auths":{"r.example.org":{"auth":"YWRhOmh1bnRlcjIy"}}}`, true},
		"kubeconfig":                     {"users:\n- name: a\n  user:\n    client-key-data: " + long + "\n", true},
		"a list of variables":            {"export DATABASE_URL=postgres://app:s3cr3tpw@db/app\nDEBUG=1\n", true},
		"a list without a password":      {"DATABASE_URL=postgres://localhost/app\nDEBUG=1\n", false},
		"a template":                     {"API_KEY=\nSECRET_KEY=changeme\nTOKEN=${TOKEN}\nDB_PASSWORD=<your password>\n", false},
		"a program":                      {"import os\nAPI_KEY = os.environ['API_KEY']\nprint(API_KEY)\n", false},
		"shell code":                     {"#!/bin/sh\nset -e\nPASSWORD=$(cat f)\nuse \"$PASSWORD\"\n", false},
		"a public key":                   {"-----BEGIN PUBLIC KEY-----\n" + long + "\n-----END PUBLIC KEY-----\n", false},
		"a text about keys":              {"A key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.\n", false},
		"a placeholder":                  {"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n", false},
		"nothing":                        {"", false},
		"a document with one assignment": {"# Setup\n\nSet PASSWORD=secretvalue1 in your shell.\nThen run it.\n", false},
	} {
		if what := keyfile.Text([]byte(c.text)); (what != "") != c.is {
			t.Errorf("%s: %q", name, what)
		}
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "a")
	if err := os.WriteFile(key, []byte(strings.Repeat("x\n", 200_000)+privateKey(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	if what := keyfile.File(key); what == "" {
		t.Error("a key at the end of a long file is not found")
	}
	for _, p := range []string{dir, filepath.Join(dir, "missing"), "/dev/zero", "/dev/tty"} {
		if what := keyfile.File(p); what != "" {
			t.Errorf("%s: %q", p, what)
		}
	}
	var f keyfile.Finder
	if f.Path(dir) == "" || f.Path(filepath.Join(dir, "*")) == "" {
		t.Error("a key in a folder is not found")
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nAAAA"))
	f.Add([]byte("\x30\x82\x0a\x10\x02\x01\x03\x30"))
	f.Add([]byte("A_TOKEN=b\n"))
	f.Add([]byte("\xff\xfeA"))
	f.Fuzz(func(t *testing.T, b []byte) { keyfile.Text(b) })
}
