"""The network: a BERT encoder (Devlin et al. 2019) with three heads, as small as it can be said in torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

LAYER_NORM = 1e-12


@dataclass(frozen=True)
class Shape:
    """How large the network is."""

    words: int
    """Words of the base model; what they mean stays as it is."""
    new_words: int
    """Words that are learnt from nothing; their numbers follow."""
    roles: int
    fields: int
    kinds: int
    layers: int = 6
    width: int = 384
    heads: int = 12
    inner: int = 1536
    positions: int = 128


class Layer(nn.Module):  # type: ignore[misc]
    """Self-attention and a two-layer perceptron, each added to its input and normed after."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.query, self.key, self.value, self.mix = (nn.Linear(shape.width, shape.width) for _ in range(4))
        self.norm_mix = nn.LayerNorm(shape.width, eps=LAYER_NORM)
        self.widen = nn.Linear(shape.width, shape.inner)
        self.narrow = nn.Linear(shape.inner, shape.width)
        self.norm_out = nn.LayerNorm(shape.width, eps=LAYER_NORM)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        """x: (batch, tokens, width). hidden: (batch, 1, 1, tokens), very negative where a token is padding."""
        batch, tokens, width = x.shape
        split = (batch, tokens, self.heads, width // self.heads)
        q, k, v = (part(x).view(split).transpose(1, 2) for part in (self.query, self.key, self.value))
        scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5 + hidden
        seen = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, tokens, width)
        x = self.norm_mix(x + self.drop(self.mix(seen)))
        return self.norm_out(x + self.drop(self.narrow(functional.gelu(self.widen(x)))))


class Network(nn.Module):  # type: ignore[misc]
    """Token numbers to the role and the field of every token and the kind of the statement."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.words = nn.Embedding(shape.words, shape.width).requires_grad_(False)
        self.new_words = nn.Embedding(shape.new_words, shape.width)
        self.positions = nn.Embedding(shape.positions, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=LAYER_NORM)
        self.drop = nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.roles = nn.Linear(shape.width, shape.roles)
        self.fields = nn.Linear(shape.width, shape.fields)
        self.kinds = nn.Linear(shape.width, shape.kinds)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Scores before softmax: (batch, tokens, roles), (batch, tokens, fields), (batch, kinds)."""
        places = torch.arange(ids.shape[1], device=ids.device)
        is_new = ids >= self.words.num_embeddings
        known = self.words(ids.masked_fill(is_new, 0))
        new = self.new_words((ids - self.words.num_embeddings).clamp(min=0))
        x = self.drop(self.norm(torch.where(is_new[..., None], new, known) + self.positions(places)))
        hidden = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        for layer in self.layers:
            x = layer(x, hidden)
        return self.roles(x), self.fields(x), self.kinds(x[:, 0])


_PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "mix": "attention.output.dense",
    "norm_mix": "attention.output.LayerNorm",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
    "norm_out": "output.LayerNorm",
}


def start_from_base(network: Network, base: Mapping[str, Tensor], numbers: list[int | None], unknown: int) -> None:
    """Copies the base model's weights into the network; a new word starts as the unknown word with a little noise.

    Args:
        network: The network to fill.
        base: The base model's tensors by name.
        numbers: For each of the network's words its number in the base model, None for the new ones at the end.
        unknown: Number of the unknown word in the base model.
    """
    words, types = base["embeddings.word_embeddings.weight"], base["embeddings.token_type_embeddings.weight"]
    with torch.no_grad():
        network.words.weight.copy_(words[[number for number in numbers if number is not None]])
        noise = 0.02 * torch.randn(network.new_words.weight.shape)
        network.new_words.weight.copy_(words[unknown] + noise)
        positions = base["embeddings.position_embeddings.weight"][: network.positions.num_embeddings]
        network.positions.weight.copy_(positions + types[0])
        _copy(network.norm, base, "embeddings.LayerNorm")
        for at, layer in enumerate(network.layers):
            for own, named in _PARTS.items():
                _copy(getattr(layer, own), base, f"encoder.layer.{at}.{named}")


def _copy(module: nn.Module, base: Mapping[str, Tensor], name: str) -> None:
    module.weight.copy_(base[f"{name}.weight"])
    module.bias.copy_(base[f"{name}.bias"])
