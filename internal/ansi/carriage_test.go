package ansi

import (
	"fmt"
	"strings"
	"testing"
)

// TestCarriageReturns: progress collapses to its last state, and text that a
// terminal would overwrite is never lost.
func TestCarriageReturns(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{"line ends of Windows", "one\r\ntwo\r\n", "one\ntwo\n"},
		{"line ends of a terminal", "one\r\r\ntwo\r\r\n", "one\ntwo\n"},
		{"old Mac line ends", "line1\rline2\r", "line1\nline2"},
		{"old Mac line ends, then a line", "alpha\rbeta\rgamma\rdone\n", "alpha\nbeta\ngamma\ndone\n"},
		{"rows of numbers", "1,2\r3,4\r5,6\r", "1,2\n3,4\n5,6"},
		{"rows that begin alike", "foo\rfoobar\rfoos\r", "foo\nfoobar\nfoos"},
		{"rows with dates", "2024/01/02,a\r2024/01/03,b\r", "2024/01/02,a\n2024/01/03,b"},
		{"a log", "12:00:01 start\r12:00:02 tick\r12:00:03 tick\r", "12:00:01 start\n12:00:02 tick\n12:00:03 tick"},
		{"a list", "- a\r- b\r- c\r", "- a\n- b\n- c"},
		{"rows of shares", "ann 10%\rbob 20%\r", "ann 10%\nbob 20%"},
		{"a heading", "Title\r=====\rText\r", "Title\n=====\nText"},
		{"equal rows", "x\rx\r", "x\nx"},
		{"a shorter text", "hello\rhi\n", "hello\nhi\n"},
		{"a longer text", "hi\rhello\n", "hi\nhello\n"},
		{"the same length", "abc\rxyz\n", "abc\nxyz\n"},
		{"a result after progress", "10%\r100%\rerror: disk full\n", "100%\nerror: disk full\n"},
		{"a warning between states", "get a 10%\rwarning: slow\rget a 20%\n", "get a 10%\nwarning: slow\nget a 20%\n"},
		{"two files", "a.zip 50%\ra.zip 100%\rb.zip 50%\rb.zip 100%\n", "a.zip 100%\nb.zip 100%\n"},
		{"two files with numbers", "f1.zip 100%\rf2.zip 100%\n", "f1.zip 100%\nf2.zip 100%\n"},
		{"it begins again", "10%\r100%\r5%\r100%\n", "100%\n100%\n"},
		{"rsync", "     32,768  10%    1.20MB/s    0:00:01\r    327,680 100%    1.30MB/s    0:00:00 (xfr#1)\n", "    327,680 100%    1.30MB/s    0:00:00 (xfr#1)\n"},
		{"docker", "abc: Downloading [=>   ] 1.2MB/9.9MB\rabc: Downloading [====>] 9.9MB/9.9MB\n", "abc: Downloading [====>] 9.9MB/9.9MB\n"},
		{"pip", "   ━━╸━━ 1.2/3.4 MB 2.0 MB/s eta 0:00:02\r   ━━━━━ 3.4/3.4 MB 2.1 MB/s eta 0:00:00\n", "   ━━━━━ 3.4/3.4 MB 2.1 MB/s eta 0:00:00\n"},
		{"a count with its total", "step 5 of 10\rstep 10 of 10\n", "step 10 of 10\n"},
		{"a return at the start of each", "\rone\rtwo\n", "one\ntwo\n"},
		{"only returns", "\r\r\r\n", "\n"},

		{"percent", " 10%\r 55%\r100%\n", "100%\n"},
		{"git", "Receiving objects:  10% (1/10)\rReceiving objects: 100% (10/10)\rReceiving objects: 100% (10/10), 1.2 MiB | 3.00 MiB/s, done.\n", "Receiving objects: 100% (10/10), 1.2 MiB | 3.00 MiB/s, done.\n"},
		{"wget", "f.gz   50%[====>     ] 1.0M  2.0MB/s  eta 1s\rf.gz  100%[=========>] 2.0M  2.0MB/s  in 1s\n", "f.gz  100%[=========>] 2.0M  2.0MB/s  in 1s\n"},
		{"curl", "  0  100M    0     0  --:--:-- --:--:--     0\r100  100M  100  100M  0:00:01  0:00:01 99M\n", "100  100M  100  100M  0:00:01  0:00:01 99M\n"},
		{"curl -#", "#####       50.0%\r############ 100.0%\n", "############ 100.0%\n"},
		{"tqdm", "epoch 1:  10%|█    | 1/10 [00:00<00:09, 1.0it/s]\repoch 1: 100%|█████| 10/10 [00:10<00:00, 1.0it/s]\n", "epoch 1: 100%|█████| 10/10 [00:10<00:00, 1.0it/s]\n"},
		{"a build", "[1/9] cc a.o\r[2/9] cc b.o\r[9/9] ld x\n", "[9/9] ld x\n"},
		{"a bar", "Building [=>      ] 1/9: serde\rBuilding [========] 9/9: app\n", "Building [========] 9/9: app\n"},
		{"ffmpeg", "frame=  10 fps=0.0 time=00:00:01.00 bitrate= 10.1kbits/s speed=1x\rframe= 200 fps= 25 time=00:00:08.00 bitrate=199.9kbits/s speed=1x\n", "frame= 200 fps= 25 time=00:00:08.00 bitrate=199.9kbits/s speed=1x\n"},
		{"a spinner", "⠋ fetch a\r⠙ fetch b\r⠹ link\n", "⠹ link\n"},
		{"a spinner at the end", "wait |\rwait /\rwait -\rwait \\\n", "wait \\\n"},
		{"growing dots", "load.\rload..\rload...\n", "load...\n"},
		{"text that goes on", "Reading lists...\rReading lists... Done\n", "Reading lists... Done\n"},
		{"blanks over a text", "working\r       \rDone\n", "Done\n"},
		{"too few blanks", "working\r   \rDone\n", "working\nDone\n"},
		{"an erased line", "working on a\r\x1b[Kworking on b\r\x1b[KDone\n", "Done\n"},
		{"a line erased before the return", "one\x1b[2K\rtwo\x1b[2K\rthree\n", "three\n"},
		{"the rest of a line erased", "one\x1b[K\rtwo\x1b[K\n", "one\ntwo\n"},
		{"moved to the first column", "10%\x1b[1G20%\x1b[0G\x1b[0K30%\n", "30%\n"},
		{"states without an end", "get 10%\rget 20%\r", "get 20%"},
	} {
		var cut Stripper
		var text []byte
		for _, b := range []byte(tt.in) { // in the smallest pieces
			text = append(text, cut.Text([]byte{b})...)
		}
		if got := Readable(string(text)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if got := Plain([]byte(tt.in)); got != tt.want {
			t.Errorf("%s, in one piece: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestLongRowsAreNoProgress: where much would be lost, nothing is left out.
func TestLongRowsAreNoProgress(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("x", 4096)
	if got, want := Plain([]byte(row+" 10%\r"+row+" 20%\r")), row+" 10%\n"+row+" 20%"; got != want {
		t.Errorf("%d bytes are left of %d", len(got), len(want))
	}
}

// TestManyCountersAreElided: states that only count are kept, unless they are
// many; then the text says what is left out.
func TestManyCountersAreElided(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for i := range 500 {
		fmt.Fprintf(&in, "row %d\r", i)
	}
	got := Plain([]byte(in.String()))
	if !strings.HasPrefix(got, "row 0\n") || !strings.HasSuffix(got, "row 499") || !strings.Contains(got, "that differ only in numbers") {
		t.Errorf("got %q", got)
	}
	if n := strings.Count(got, "\n"); n > 25 {
		t.Errorf("%d lines", n)
	}
}

func FuzzReadable(f *testing.F) {
	f.Add("a\rb\r\nc 10%\rc 20%\x1b[K\r\x1b[2Kd\r\r  \n")
	f.Fuzz(func(t *testing.T, in string) {
		got := Plain([]byte(in))
		if strings.ContainsAny(got, "\r\x18\x1b") {
			t.Fatalf("%q: %q", in, got)
		}
	})
}
