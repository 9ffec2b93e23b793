# The clients of the vendors ask the server of the tests. One line of JSON for each call: its name, and what the
# client read from the answer. Arguments: the address of the server, the key, a page.
import json, sys

base, key, page = sys.argv[1:4]


def say(name, call):
    try:
        print(json.dumps({"name": name, "read": call()}))
    except Exception as e:  # the kind is what is compared
        print(json.dumps({"name": name, "error": type(e).__name__ + ": " + str(e)}))


from exa_py import Exa

exa = Exa(key, base_url=base + "/exa")
say("exa search", lambda: [[r.title, r.url, r.text] for r in exa.search("green tea", num_results=2, contents={"text": {"max_characters": 800}}).results])
say("exa thorough search", lambda: [[r.title, r.url, r.text] for r in exa.search("green tea", num_results=2, type="deep", contents={"text": {"max_characters": 800}}).results])
say("exa extract", lambda: [[r.url, r.text] for r in exa.get_contents([page], text=True).results])

from tavily import TavilyClient

tavily = TavilyClient(key, api_base_url=base + "/tavily")
say("tavily search", lambda: [[r["title"], r["url"], r["content"]] for r in tavily.search("green tea", max_results=2)["results"]])
say("tavily extract", lambda: [[r["url"], r["raw_content"]] for r in tavily.extract([page], format="markdown")["results"]])
say("tavily wrong key", lambda: TavilyClient("wrong", api_base_url=base + "/tavily").search("green tea"))

from firecrawl import Firecrawl

firecrawl = Firecrawl(key, api_url=base)
say("firecrawl search", lambda: [[r.title, r.url, r.description] for r in firecrawl.search("green tea", limit=2).web])
say("firecrawl extract", lambda: [[page, firecrawl.scrape(page, formats=["markdown"], only_main_content=True).markdown]])
say("firecrawl wrong key", lambda: str(Firecrawl("wrong", api_url=base).search("green tea")))

from parallel import Parallel

parallel = Parallel(api_key=key, base_url=base + "/parallel", max_retries=0)
say("parallel search", lambda: [[r.title, r.url, " … ".join(r.excerpts)] for r in parallel.search(search_queries=["green tea"], objective="green tea", mode="basic", advanced_settings={"max_results": 2}).results])
say("parallel thorough search", lambda: [[r.title, r.url, " … ".join(r.excerpts)] for r in parallel.search(search_queries=["green tea"], objective="green tea", mode="advanced", advanced_settings={"max_results": 2}).results])
say("parallel extract", lambda: [[r.url, r.full_content] for r in parallel.extract(urls=[page], advanced_settings={"full_content": True}).results])
say("parallel wrong key", lambda: str(Parallel(api_key="wrong", base_url=base + "/parallel", max_retries=0).search(search_queries=["green tea"], objective="x")))

from perplexity import Perplexity

perplexity = Perplexity(api_key=key, base_url=base + "/perplexity", max_retries=0)
say("perplexity search", lambda: [[r.title, r.url, r.snippet] for r in perplexity.search.create(query="green tea", max_results=2).results])
say("perplexity wrong key", lambda: str(Perplexity(api_key="wrong", base_url=base + "/perplexity", max_retries=0).search.create(query="green tea")))
