"""Prints the main text of each page of a folder, as trafilatura sees it, as one JSON object."""
import json, pathlib, sys
import trafilatura

out = {}
for path in pathlib.Path(sys.argv[1]).glob("*.html"):
    source = path.read_text(encoding="utf-8")
    text = trafilatura.extract(source, include_comments=False, include_tables=True, favor_recall=True) or ""
    about = trafilatura.extract_metadata(source)
    title = about.title if about and about.title else ""
    if text and title.lower() not in text.lower():  # as for Readability
        text = title + "\n" + text
    out[path.stem] = text
json.dump(out, sys.stdout)
