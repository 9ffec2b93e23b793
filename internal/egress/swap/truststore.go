package swap

import (
	"crypto/x509"
	"encoding/asn1"
	"strconv"
	"strings"
	"unicode/utf16"
)

// This file writes a PKCS #12 file (RFC 7292) with certificates that a JVM trusts. It is
// neither encrypted nor sealed: nothing in it is secret, and whoever could change it could
// change a seal with a known password, too. A library would be a dependency for these few
// structures.

var (
	oidData          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidCertBag       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 12, 10, 1, 3}
	oidX509          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 22, 1}
	oidFriendlyName  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 20}
	oidTrusted       = asn1.ObjectIdentifier{2, 16, 840, 1, 113894, 746875, 1, 1} // the JVM passes over certificates without it
	oidAnyKeyPurpose = asn1.ObjectIdentifier{2, 5, 29, 37, 0}
)

type p12 struct {
	Version int
	Safe    contentInfo
}

type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content asn1.RawValue
}

type safeBag struct {
	ID         asn1.ObjectIdentifier
	Value      asn1.RawValue
	Attributes []attribute `asn1:"set"`
}

type certBag struct {
	ID   asn1.ObjectIdentifier
	Data asn1.RawValue
}

type attribute struct {
	ID    asn1.ObjectIdentifier
	Value asn1.RawValue // a set
}

// javaOptions names the trust store to the JVM. Its launcher splits the variable at spaces,
// outside of quotes.
func javaOptions(path string) string {
	if strings.ContainsAny(path, " \t") {
		path = `"` + path + `"`
	}
	return "-Djavax.net.ssl.trustStore=" + path + " -Djavax.net.ssl.trustStoreType=PKCS12"
}

func trustStore(certs []*x509.Certificate) ([]byte, error) {
	var e encoder
	var bags []safeBag
	for i, c := range certs {
		bags = append(bags, safeBag{
			ID:    oidCertBag,
			Value: e.tagged(certBag{oidX509, e.tagged(c.Raw)}),
			Attributes: []attribute{
				{oidFriendlyName, e.set(e.bmp("authority " + strconv.Itoa(i)))},
				{oidTrusted, e.set(e.der(oidAnyKeyPurpose))},
			},
		})
	}
	safes := e.der([]contentInfo{{oidData, e.tagged(e.der(bags))}})
	file := e.der(p12{Version: 3, Safe: contentInfo{oidData, e.tagged(safes)}})
	return file, e.err
}

// encoder writes DER and keeps the first error.
type encoder struct{ err error }

func (e *encoder) der(value any) []byte {
	out, err := asn1.Marshal(value)
	if e.err == nil {
		e.err = err
	}
	return out
}

// tagged wraps a value, for bytes an octet string, into the explicit tag 0.
func (e *encoder) tagged(value any) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: e.der(value)}
}

func (e *encoder) set(element []byte) asn1.RawValue {
	return asn1.RawValue{Class: asn1.ClassUniversal, Tag: asn1.TagSet, IsCompound: true, Bytes: element}
}

func (e *encoder) bmp(text string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u>>8), byte(u))
	}
	return e.der(asn1.RawValue{Class: asn1.ClassUniversal, Tag: asn1.TagBMPString, Bytes: out})
}
