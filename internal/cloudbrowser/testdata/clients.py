# The clients of the vendors ask the server of the tests. One line of JSON for each call: its name, and the id and
# the address that the client read from the answer. Arguments: the address of the server, the key.
import json, sys

base, key = sys.argv[1:3]


def say(name, call):
    try:
        print(json.dumps({"name": name, "read": call()}))
    except Exception as e:  # the kind is what is compared
        print(json.dumps({"name": name, "error": type(e).__name__ + ": " + str(e)}))


from browserbase import Browserbase

bb = Browserbase(api_key=key, base_url=base + "/bb", max_retries=0)


def opened():
    s = bb.sessions.create(project_id="p", keep_alive=False, proxies=True, api_timeout=3600)
    return [s.id, s.connect_url]


def ended(id):
    return [bb.sessions.update(id, status="REQUEST_RELEASE", project_id="p").status, bb.sessions.retrieve(id).status]


say("browserbase open", opened)
say("browserbase release", lambda: ended(opened()[0]))
say("browserbase wrong key", lambda: Browserbase(api_key="wrong", base_url=base + "/bb", max_retries=0).sessions.create())

from browser_use_sdk.v3 import BrowserUse

bu = BrowserUse(api_key=key, base_url=base + "/bu", max_retries=0)


def begun(**more):
    s = bu.browsers.create(timeout=60, **more)
    return [str(s.id), s.cdp_url]


def stopped(id):
    return [bu.browsers.stop(id).status.value, bu.browsers.get(id).status.value]


say("browser_use open", begun)
say("browser_use open without a proxy", lambda: begun(proxy_country_code=None))
say("browser_use release", lambda: stopped(begun()[0]))
say("browser_use wrong key", lambda: BrowserUse(api_key="wrong", base_url=base + "/bu", max_retries=0).browsers.create())
