"""A function of a Gradio application as a tool.

    gradio_server.py PORT
"""

import sys

import gradio


def add(a: float, b: float) -> str:
    """Adds two numbers.

    Args:
        a: the first number
        b: the second number
    """
    return f"{a + b:g}"


gradio.Interface(add, ["number", "number"], "text").launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), mcp_server=True, quiet=True)
