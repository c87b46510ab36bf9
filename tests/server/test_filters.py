"""A filter that there is none of is named over HTTP, with those that there are (S2-40)."""

from pathlib import Path

from tests.server.served import a_served_company, error_of


async def test_an_unknown_filter_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    async with a_served_company(tmp_path / "acme") as served, served.client() as client:
        found = await client.get("/api/tasks?stat=open&limit=3")
        assert error_of(found) == (422, "invalid")
        told = found.json()["error"]["message"]
        assert "there is no filter 'stat'; there are: " in told
        assert {"status", "limit", "after"} <= {each.strip(" .") for each in told.partition("there are:")[2].split(",")}
        assert "Extra inputs" not in found.text
        many = await client.get("/api/goals?" + "&".join(f"f{number}{'x' * 300}=1" for number in range(20)))
        assert error_of(many) == (422, "invalid")
        assert len(many.text) < 1500
