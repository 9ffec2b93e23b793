"""Prints the main text of each page of a folder, as trafilatura sees it, as one JSON object."""
import json, pathlib, sys
import trafilatura

out = {}
for path in pathlib.Path(sys.argv[1]).glob("*.html"):
    text = trafilatura.extract(path.read_text(encoding="utf-8"), include_comments=False, include_tables=True, favor_recall=True)
    out[path.stem] = text or ""
json.dump(out, sys.stdout)
