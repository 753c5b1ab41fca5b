"""The torsos of the paper and of the smaller scales, as values of the configuration.

Each describes the flax modules that its `layers()` returns; `CustomTorso` carries a user's own. The numbers of members
and of outputs per head matter only to `Widened`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import flax.linen as nn

from chorus.components import Component, option, register
from chorus.errors import ChorusError
from chorus.networks.layers import DEFAULT_INITIALIZATION, Conv, Dense, Initialization, WidenedDense


@dataclass(frozen=True, kw_only=True)
class ConvLayer:
    """One square convolution: output channels, kernel size and stride in pixels."""

    features: int
    kernel: int
    stride: int = 1


class Torso(Component, ABC, interface="torso"):
    """The layers below the heads."""

    @abstractmethod
    def layers(
        self, initialization: Initialization = DEFAULT_INITIALIZATION, members: int = 1, outputs: int = 1
    ) -> tuple[nn.Module, ...]:
        """Flax modules, bottom layer first; `outputs` numbers per head of each of the `members`."""

    @property
    @abstractmethod
    def feature_layers(self) -> int:
        """How many bottom layers make the representation that auxiliary losses read."""

    @property
    def dense_units(self) -> int | None:
        """Units of its dense layers, for estimates of time; None if they are not known."""
        return None


def _no_dense_problem(dense: tuple[int, ...]) -> Iterator[str]:
    if any(width < 1 for width in dense):
        yield f"agent.torso.dense is {list(dense)}; every layer needs at least 1 unit"


def _dense(widths: tuple[int, ...], initialization: Initialization, layer_norm: bool = False) -> tuple[nn.Module, ...]:
    return tuple(Dense(features=width, initialization=initialization, layer_norm=layer_norm) for width in widths)


def _layer_norm() -> Any:
    """The option of every torso of Chorus's own; its flag stands with the learner's torso."""
    return option(
        False,
        label="layer norm",
        named=False,
        help="normalise every hidden layer before its ReLU, for each member by itself",
    )


@register
@dataclass(frozen=True, kw_only=True)
class ConvTorso(Torso):
    """Convolutions, then dense layers, a ReLU after each; `nature()` is the paper's."""

    convolutions: tuple[ConvLayer, ...] = option(help="the convolutions, bottom layer first")
    dense: tuple[int, ...] = option(unit="UNITS", help="widths of the dense layers above them")
    padding: Literal["valid", "same"] = option("valid", help="whether convolutions pad with zeros to keep the size")
    layer_norm: bool = _layer_norm()

    def layers(
        self, initialization: Initialization = DEFAULT_INITIALIZATION, members: int = 1, outputs: int = 1
    ) -> tuple[nn.Module, ...]:
        convolutions = [
            Conv(
                features=c.features,
                kernel=c.kernel,
                stride=c.stride,
                same=self.padding == "same",
                initialization=initialization,
                layer_norm=self.layer_norm,
            )
            for c in self.convolutions
        ]
        return (*convolutions, *_dense(self.dense, initialization, self.layer_norm))

    @property
    def feature_layers(self) -> int:
        """The convolutions: their output is the representation."""
        return len(self.convolutions)

    @property
    def dense_units(self) -> int:
        return sum(self.dense)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not self.convolutions and not self.dense:
            yield "agent.torso has no layers; heads need at least one below them: give agent.torso.dense a width"
        yield from _no_dense_problem(self.dense)
        for layer in self.convolutions:
            if min(layer.features, layer.kernel, layer.stride) < 1:
                yield (
                    f"agent.torso.convolutions has {layer.features} channels, kernel {layer.kernel} and stride "
                    f"{layer.stride}; each must be at least 1"
                )


@register
@dataclass(frozen=True, kw_only=True)
class MLPTorso(Torso):
    """Dense layers only, a ReLU after each."""

    dense: tuple[int, ...] = option(unit="UNITS", help="widths of the dense layers, bottom layer first")
    layer_norm: bool = _layer_norm()

    def layers(
        self, initialization: Initialization = DEFAULT_INITIALIZATION, members: int = 1, outputs: int = 1
    ) -> tuple[nn.Module, ...]:
        return _dense(self.dense, initialization, self.layer_norm)

    @property
    def feature_layers(self) -> int:
        """All layers but the last."""
        return len(self.dense) - 1

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        if not self.dense:
            yield "agent.torso has no layers; heads need at least one below them: give agent.torso.dense a width"
        yield from _no_dense_problem(self.dense)


@register
@dataclass(frozen=True, kw_only=True)
class ScaledMLPTorso(MLPTorso):
    """Dense layers that read each number of an observation times a factor, where the numbers differ in size."""

    input_scale: tuple[float, ...] = option(unit="FACTORS", help="one factor per number of an observation")

    def layers(
        self, initialization: Initialization = DEFAULT_INITIALIZATION, members: int = 1, outputs: int = 1
    ) -> tuple[nn.Module, ...]:
        first, *above = super().layers(initialization)
        return (first.clone(input_scale=self.input_scale), *above)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        yield from super().problems(config, spec)
        if spec.observation_shape != (len(self.input_scale),):
            yield (
                f"agent.torso.input_scale has {len(self.input_scale)} factors; observations of {spec.id} have the "
                f"shape {spec.observation_shape}: give one factor per number, or use mlp_torso"
            )
        if config.agent.features_read_actions:
            yield f"the critics of {config.preset} read actions beside observations: use mlp_torso as agent.torso"


@register
@dataclass(frozen=True, kw_only=True)
class Widened(Torso):
    """A torso with a wider last hidden layer, so that the ensemble has as many parameters as with CERL (E18)."""

    torso: Torso = option(help="the torso whose last hidden layer is widened; it must be dense")

    def layers(
        self, initialization: Initialization = DEFAULT_INITIALIZATION, members: int = 1, outputs: int = 1
    ) -> tuple[nn.Module, ...]:
        *below, last = self.torso.layers(initialization)
        assert isinstance(last, Dense), "validation refuses to widen other layers"
        widened = WidenedDense(
            last.features,
            initialization,
            input_scale=last.input_scale,
            layer_norm=last.layer_norm,
            members=members,
            outputs=outputs,
        )
        return (*below, widened)

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        agent, layers = config.agent, self.torso.layers()
        if not layers or not isinstance(layers[-1], Dense):
            found = f"ends with a layer {type(layers[-1]).__name__}" if layers else "has no layers"
            yield f"agent.torso.torso {found}; only a dense layer of Chorus can be widened: add a width to its `dense`"
            return
        if agent.features_read_actions:
            yield (
                f"the torso widened counts one output per Discrete action, and the critics of {config.preset} read "
                "actions as inputs: use agent.torso.torso as agent.torso"
            )
        if agent.shared_layers == len(layers):
            yield (
                f"--shared-layers {agent.shared_layers} shares the layer that is widened to CERL's parameters, and "
                f"CERL is not defined there: choose at most {len(layers) - 1}"
            )

    @property
    def feature_layers(self) -> int:
        return self.torso.feature_layers


@register
@dataclass(frozen=True, kw_only=True)
class CustomTorso(Torso):
    """A user's own flax modules, each one layer that maps [B, ...] to [B, ...].

    A configuration file holds only the description: modules are code, and are given again from Python.
    """

    description: str = option(help="the modules as Python prints them")
    modules: tuple[nn.Module, ...] = field(default=(), compare=False, metadata={"stored": False})

    @property
    def feature_layers(self) -> int:
        """All layers but the last, as for dense layers."""
        return max(len(self.modules) - 1, 0)

    def layers(
        self, initialization: Initialization = DEFAULT_INITIALIZATION, members: int = 1, outputs: int = 1
    ) -> tuple[nn.Module, ...]:
        """As they were given: modules bring their own initialisation."""
        if not self.modules:
            raise ChorusError(
                f"this run uses a torso given from Python ({self.description}); give it again, "
                "as in chorus.load(run, torso=...) or chorus.resume(run, torso=...)"
            )
        return self.modules


def custom(torso: nn.Module | tuple[nn.Module, ...]) -> CustomTorso:
    modules = torso if isinstance(torso, tuple) else (torso,)
    # One line, because the description becomes part of sentences.
    description = ", ".join(" ".join(repr(module).split()) for module in modules)
    return CustomTorso(description=description, modules=modules)


def nature() -> ConvTorso:
    """The network of Mnih et al. (2015) (equation E9)."""
    return ConvTorso(
        convolutions=(
            ConvLayer(features=32, kernel=8, stride=4),
            ConvLayer(features=64, kernel=4, stride=2),
            ConvLayer(features=64, kernel=3, stride=1),
        ),
        dense=(512,),
    )
