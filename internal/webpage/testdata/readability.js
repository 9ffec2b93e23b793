// Prints the main text of each page of a folder, as Readability sees it, as one JSON object.
const fs = require("fs"), path = require("path");
const { Readability } = require("@mozilla/readability");
const { JSDOM, VirtualConsole } = require("jsdom");
const out = {};
for (const file of fs.readdirSync(process.argv[2])) {
  const source = fs.readFileSync(path.join(process.argv[2], file), "utf8");
  const dom = new JSDOM(source, { url: "https://example.org/dir/page", virtualConsole: new VirtualConsole() });
  const article = new Readability(dom.window.document).parse();
  let text = "";
  if (article) { // blocks are on lines of their own, so that their words do not run together
    const spaced = article.content.replace(/<(\/?)(p|div|li|ul|ol|tr|td|th|h[1-6]|br|section|article|pre|blockquote|dt|dd|table|figcaption|header)\b/gi, "\n<$1$2");
    text = new JSDOM(spaced).window.document.body.textContent;
    if (!text.toLowerCase().includes((article.title || "").toLowerCase())) text = article.title + "\n" + text;
  }
  out[path.basename(file, ".html")] = text;
}
process.stdout.write(JSON.stringify(out));
