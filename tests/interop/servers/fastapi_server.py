"""The operations of a FastAPI application as tools.

    fastapi_server.py PORT
"""

import sys

import uvicorn
from fastapi import FastAPI
from fastapi_mcp import FastApiMCP

app = FastAPI(title="peer")


@app.get("/add", operation_id="add")
def add(a: float, b: float = 0) -> dict:
    """Adds two numbers."""
    return {"total": a + b}


FastApiMCP(app).mount_http()
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
