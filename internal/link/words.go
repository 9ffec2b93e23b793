package link

import (
	"strings"
	"sync"
)

// common returns short words and names that ordinary links have, in lower case.
var common = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`
		am an as at be by do go he hi if in is it me my no of oh ok on or so to up us we
		al da de di do du el en es et eu il im is ja je la le li lo ma na ne ni no nu om os ou se si su te tu ta un um va wo ze zu
		ar bg bs ca cs cy el et fa fi fr ga gb gl he hr hu hy ka kk ko kr lt lv mk ms mt nb nl nn pl pt ro ru sk sl sq sr sv sw th tr uk ur uz vi zh cn jp tw ch br mx nz
		ai ip id io ui ux os pr qa tv vm js ts py rb rs cc md sh ps hl
		all and api app are art box can car cat css csv dev did doc eng env faq few for fun gcc get git gmt has her him his how htm ico img ini iso its jar jdk jpg
		job js key law lib log man map may med men net new not now off oil old one org our out own pdf php pip pkg png pop rel rfc
		row rss run sci sdk see set she src ssh ssl std svg sys tag tar tax tcp the tls top toc try two txt udp url use usr utc vs via war was way web who why win www xml yes you zip
		aws cdn cli cmd cpp dns ftp gnu gpg hub ide jwt npm oop rpc sql vpn vps xhr yml json html http https xhtml mdn ctx gpu cpu
		jan feb mar apr jun jul aug sep oct nov dec
		usa bbc cnn nyt
		amd64 arm64 x86 x64 i386 win32 win64 utf8 sha1 sha256 sha512 base64 md5 mp3 mp4 h264 ipv4 ipv6 http2 http3 oauth2 k8s s3 ec2 v1 v2 l10n i18n a11y
	`) {
		words[w] = true
	}
	return words
})
