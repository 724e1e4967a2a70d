"""Tries `plimsoll mcp` with the Model Context Protocol's own client for Python: client.py PROGRAM FOLDER SCRIPT."""

import asyncio
import sys

from mcp import Client, StdioServerParameters

program, folder, script = sys.argv[1:]


async def main():
    server = StdioServerParameters(command=program, args=["mcp", "--folder", folder])
    async with Client(server) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 7, tools
        checked = await client.call_tool("validate_script", {"script": script})
        assert checked.structured_content["isRunnable"] is True, checked
        ran = await client.call_tool("run_script", {"script": script, "iterations": 2, "vus": 1})
        assert not ran.is_error and ran.structured_content["exit"]["code"] == 0, ran
        assert ran.content[0].text.startswith(ran.structured_content["validity"]["line"]), ran
        beyond = await client.call_tool("run_script", {"script": script, "vus": 999, "duration": "1s"})
        assert beyond.is_error and "--limit-vus" in beyond.content[0].text, beyond
        print("python: ok,", ran.content[0].text.splitlines()[0])


asyncio.run(main())
