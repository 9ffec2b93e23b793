# Sends with the clients of the vendors what the plugins send: clients.py SERVICE ADDRESS
import datetime, sys

service, address = sys.argv[1:]


def sent(call):
    try:
        call()
    except Exception as e:  # the answers of the recorder are not those of the service
        print(type(e).__name__, file=sys.stderr)


if service == "hindsight":
    from hindsight_client import Hindsight
    c = Hindsight(base_url=address, api_key="k")
    sent(lambda: c.retain_batch("hermes", [{
        "content": "User: I like tea.\n\nAssistant: Noted.", "context": "conversation between Hermes Agent and the User",
        "timestamp": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), "document_id": "hermes-a/b-1767323045000000000", "metadata": {"session": "a/b"},
    }], retain_async=True))
    sent(lambda: c.recall("hermes", "tea?", budget="low", max_tokens=2500))
    sent(lambda: c.retain("hermes", "I like tea.", tags=["drinks"]))
    sent(lambda: c.recall("hermes", "tea?"))
    sent(lambda: c.reflect("hermes", "tea?", budget="mid"))
else:
    from openviking_sdk import SyncHTTPClient
    c = SyncHTTPClient(url=address, api_key="k")
    c.initialize()
    sent(lambda: c.create_session("hermes-a-b"))
    sent(lambda: c.add_message("hermes-a-b", "user", "I like tea."))
    sent(lambda: c.add_message("hermes-a-b", "assistant", "Noted."))
    sent(lambda: c.find("tea?", limit=8))
    sent(lambda: c.search("tea?", session_id="hermes-a-b", limit=10))
    sent(lambda: c.read("viking://a"))
    sent(lambda: c.abstract("viking://a"))
    sent(lambda: c.overview("viking://a"))
    sent(lambda: c.ls("viking://a"))
    sent(lambda: c.tree("viking://a"))
    sent(lambda: c.stat("viking://a"))
    sent(lambda: c.add_resource("https://example.org/a", options={"reason": "r"}))
    sent(lambda: c.commit_session("hermes-a-b"))
