"""Calls `annals mcp` through the reference SDK of the protocol, and prints the results as one JSON document.

Usage: mcp_client.py CALLS SERVER [ARGUMENT...]

CALLS is a JSON document: {"calls": [[tool, arguments], ...], "parallel": [tool, arguments, times]}.
The server runs in the working directory with the environment of this process.
"""

import asyncio
import json
import os
import sys

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client


def document(answer):
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


async def talk(plan, command, arguments):
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ), cwd=os.getcwd())
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        seen = {"tools": document(await session.list_tools())["tools"]}
        seen["answers"] = [
            [tool, document(await session.call_tool(tool, given))] for tool, given in plan["calls"]
        ]
        tool, given, times = plan["parallel"]
        at_once = await asyncio.gather(*(session.call_tool(tool, given) for _ in range(times)))
        seen["parallel"] = [document(answer) for answer in at_once]
        await session.send_ping()
        return seen


print(json.dumps(asyncio.run(talk(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:]))))
