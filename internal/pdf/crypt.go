package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
)

// key decrypts a file that opens without a password. A nil key leaves bytes as they are.
type key struct {
	secret []byte
	aes    bool // else RC4
	whole  bool // the same key for all objects, from version 5 on
	wrong  bool // a password is needed
}

// padding fills up short passwords.
var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// unlock makes the key of an encrypted file with the empty password.
func (f *file) unlock() {
	d := f.dict(f.trailer["Encrypt"])
	if d == nil {
		return
	}
	k := &key{}
	version, revision := whole(d["V"]), whole(d["R"])
	owner, _ := f.resolve(d["O"]).(text)
	user, _ := f.resolve(d["U"]).(text)
	length := whole(d["Length"]) / 8
	if version == 4 || version == 5 {
		filters := f.dict(d["CF"])
		filter, _ := d["StmF"].(name)
		method, _ := f.dict(filters[filter])["CFM"].(name)
		k.aes = method == "AESV2" || method == "AESV3"
		if method == "" || method == "None" {
			return
		}
		length = 16
	}
	k.whole = version == 5
	switch {
	case d["Filter"] != name("Standard") || version < 1 || version > 5 || version == 3:
		k.wrong = true
	case version == 5:
		encrypted, _ := f.resolve(d["UE"]).(text)
		k.secret = secret5(user, encrypted, revision)
	default:
		if version == 1 || length < 5 || length > 16 {
			length = 5
		}
		ids := f.list(f.trailer["ID"])
		var id text
		if len(ids) > 0 {
			id, _ = ids[0].(text)
		}
		k.secret = secret4(d, owner, id, revision, length)
		k.wrong = !opens4(k.secret, user, id, revision)
	}
	k.wrong = k.wrong || k.secret == nil
	// the file's objects were read before there was a key
	f.objects = map[int]any{}
	for number, p := range f.places {
		if p.in == nil {
			continue
		}
		delete(f.places, number)
	}
	if r, ok := f.trailer["Encrypt"].(ref); ok {
		f.objects[r.number] = d
	}
	f.key = k
}

func secret4(d dict, owner, id text, revision, length int) []byte {
	h := md5.New()
	h.Write(padding)
	h.Write([]byte(owner[:min(len(owner), 32)]))
	permissions, _ := d["P"].(float64)
	_ = binary.Write(h, binary.LittleEndian, uint32(int64(permissions)))
	h.Write([]byte(id))
	if revision >= 4 && d["EncryptMetadata"] == false {
		h.Write([]byte{255, 255, 255, 255})
	}
	sum := h.Sum(nil)
	if revision >= 3 {
		for range 50 {
			next := md5.Sum(sum[:length])
			sum = next[:]
		}
	}
	return sum[:length]
}

// opens4 reports whether a key is the one that the file was encrypted with.
func opens4(secret []byte, user, id text, revision int) bool {
	if revision < 3 {
		out := xor(secret, padding)
		return bytes.Equal(out, []byte(user[:min(len(user), 32)]))
	}
	sum := md5.Sum(append(append([]byte(nil), padding...), id...))
	out := sum[:]
	for i := range 20 {
		k := append([]byte(nil), secret...)
		for j := range k {
			k[j] ^= byte(i)
		}
		out = xor(k, out)
	}
	return len(user) >= 16 && bytes.Equal(out, []byte(user[:16]))
}

func xor(secret, data []byte) []byte {
	c, err := rc4.NewCipher(secret)
	if err != nil {
		return nil
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// secret5 returns the key of version 5, or nil if the file has a password.
func secret5(user, encrypted text, revision int) []byte {
	if len(user) < 48 || len(encrypted) < 32 {
		return nil
	}
	sum := hash5([]byte(user[32:40]), revision)
	if !bytes.Equal(sum, []byte(user[:32])) {
		return nil
	}
	block, err := aes.NewCipher(hash5([]byte(user[40:48]), revision))
	if err != nil {
		return nil
	}
	out := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(out, []byte(encrypted[:32]))
	return out
}

// hash5 is the hash of the empty password with a salt.
func hash5(salt []byte, revision int) []byte {
	first := sha256.Sum256(salt)
	k := first[:]
	if revision < 6 {
		return k
	}
	for round := 1; ; round++ {
		data := bytes.Repeat(k, 64)
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(data, data)
		rest := 0
		for _, c := range data[:16] {
			rest += int(c)
		}
		switch rest % 3 {
		case 0:
			s := sha256.Sum256(data)
			k = s[:]
		case 1:
			s := sha512.Sum384(data)
			k = s[:]
		default:
			s := sha512.Sum512(data)
			k = s[:]
		}
		if round >= 64 && int(data[len(data)-1]) <= round-32 {
			return k[:32]
		}
	}
}

func (k *key) decrypt(data []byte, id ref) []byte {
	if k == nil || len(k.secret) == 0 {
		return data
	}
	secret := k.secret
	if !k.whole {
		in := append(append([]byte(nil), secret...), byte(id.number), byte(id.number>>8), byte(id.number>>16), byte(id.generation), byte(id.generation>>8))
		if k.aes {
			in = append(in, "sAlT"...)
		}
		sum := md5.Sum(in)
		secret = sum[:min(len(secret)+5, 16)]
	}
	if !k.aes {
		return xor(secret, data)
	}
	if len(data) < 32 {
		return nil
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil
	}
	out := make([]byte, (len(data)-16)/16*16)
	cipher.NewCBCDecrypter(block, data[:16]).CryptBlocks(out, data[16:16+len(out)])
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= 16 {
		out = out[:len(out)-pad]
	}
	return out
}

// strings decrypts the strings in an object that is not in a stream.
func (k *key) strings(v any, id ref, depth int) any {
	if k == nil || depth > maxNesting {
		return v
	}
	switch v := v.(type) {
	case text:
		return text(k.decrypt([]byte(v), id))
	case []any:
		for i := range v {
			v[i] = k.strings(v[i], id, depth+1)
		}
	case dict:
		for key := range v {
			v[key] = k.strings(v[key], id, depth+1)
		}
	}
	return v
}
