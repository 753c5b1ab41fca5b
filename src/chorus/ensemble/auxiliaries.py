"""What else shapes the features: auxiliary losses, mixed with the temporal-difference loss."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from chorus.components import BELOW_1, NOT_NEGATIVE, Component, option, register
from chorus.ensemble.losses import huber
from chorus.errors import ChorusError
from chorus.spaces import Actions, AnyArray


class Features(NamedTuple):
    """What a network computes below its heads, for a batch of B states.

    `last` is the input of the last layer, per member. `representation` is the output of the torso's feature layers,
    None if it has none: R is 1 where these layers are shared, and N otherwise. A shared representation holds the
    C = B · M states of all batches, another one the C = B states of its member. It is taken below the member fork, so
    a loss on it is not divided by the number of members.
    """

    last: Float[Array, "N B D"]
    representation: Float[Array, "R C F"] | None


class AuxiliaryContext(NamedTuple):
    """What an auxiliary loss needs to know to draw parameters of its own."""

    members: int
    feature_size: int
    """D, the size of `Features.last`."""
    representation: tuple[int, int] | None
    """R and F of `Features.representation`."""
    actions: Actions


@dataclass(frozen=True)
class AuxiliaryInputs:
    """What an auxiliary loss can read of one update of one network.

    SAC evaluates an auxiliary loss once per critic; the features are then of state and action.
    """

    batch: Any
    """The `chorus.replay.batch.Batch`, with rewards as the learner sees them."""
    predictions: Float[Array, "B N H Z"]
    """Every head's prediction for the action taken."""
    online: Features
    """Of s, by the network that learns; the only ones with a gradient."""
    target: Callable[[], Features]
    """Of s, by the target network; evaluated when called."""
    next_target: Callable[[], Features]
    """Of s', by the target network; for SAC of s' and an action of each member's own policy there."""
    discount: float
    """Discount of the main heads."""


class Auxiliary(Component, interface="auxiliary loss"):
    """An auxiliary loss; the total is (1 - weight) TD + weight auxiliary.

    It may couple members: it sees all of them at once. A weight of 0 means that it is never computed.
    """

    update_seconds: ClassVar[float] = 0.0
    """Additional core seconds per member and gradient step, for cost estimates (docs/cost.md)."""

    weight: float = 0.0
    """Its share of the total loss."""

    def init(self, key: PRNGKeyArray, context: AuxiliaryContext) -> Any:
        """Parameters of its own, a tree of arrays that the learner's optimizer trains; none by default."""
        return {}

    def losses(self, params: Any, inputs: AuxiliaryInputs) -> Float[Array, " terms"]:
        """One loss per member, or a single one; their sum is minimised. `params` is what `init` drew."""
        raise ChorusError(
            f"{type(self).__name__} has the weight {self.weight} and no losses: define its method `losses`"
        )


@register
@dataclass(frozen=True, kw_only=True)
class NoAuxiliary(Auxiliary):
    """The temporal-difference loss alone."""


@register
@dataclass(frozen=True, kw_only=True)
class Mico(Auxiliary):
    """Matching under Independent Couplings (Castro et al., 2021; equation E14), a loss on the representation.

    A shared representation is shaped once, from the transitions of all batches, and not once per member.
    """

    # For all pairs of a batch, measured on MinAtar (docs/cost.md).
    update_seconds: ClassVar[float] = 5.0e-4

    weight: float = option(
        0.01, flag="mico-weight", unit="W", within=BELOW_1, help="MICo: its share of the loss, at least 0 and below 1"
    )
    beta: float = option(0.1, unit="BETA", within=NOT_NEGATIVE, help="weight of the angle in MICo's distance")

    def problems(self, config: Any, spec: Any) -> Iterator[str]:
        agent, n_step = config.agent, config.replay.n_step
        features, shared = agent.torso.feature_layers, agent.shared_layers
        if not self.weight:
            return
        if agent.features_read_actions:
            yield (
                f"MICo is a distance between states, and the critics of {config.preset} have features of states and "
                "actions: set agent.auxiliary to no_auxiliary"
            )
        if 0 < shared < features:
            yield (
                f"--shared-layers {shared} shares a part of the {features} layers whose output MICo shapes, so its "
                f"gradient could not stay undivided there: choose 0, or {features} and more"
            )
        if n_step != 1:
            yield f"--n-step is {n_step}; MICo's distance is defined for 1-step rewards: use 1"
        if not features:
            yield "MICo shapes the layers below the last hidden one; this network has none: add a layer"

    def losses(self, params: Any, inputs: AuxiliaryInputs) -> Float[Array, " R"]:
        online, target, next_target = (
            features.representation for features in (inputs.online, inputs.target(), inputs.next_target())
        )
        assert online is not None and target is not None and next_target is not None, "validation refuses no layers"
        copies, first = online.shape[0], inputs.batch.rewards[..., 0]
        reward = first.reshape(1, -1) if copies == 1 else jnp.broadcast_to(first.T, (copies, first.shape[0]))
        return jax.vmap(partial(self.loss, discount=inputs.discount))(online, target, next_target, reward)

    def loss(
        self,
        online: Float[Array, "C F"],
        target: Float[Array, "C F"],
        next_target: Float[Array, "C F"],
        reward: Float[AnyArray, " C"],
        discount: float,
    ) -> Float[Array, ""]:
        """Mean over all ordered pairs of huber₁(U(φ(s_p), φ̄(s_q)) - (|r_p - r_q| + γ U(φ̄(s'_p), φ̄(s'_q))))."""
        predicted = mico_distances(online, jax.lax.stop_gradient(target), self.beta)
        next_distance = mico_distances(next_target, next_target, self.beta)
        wanted = jnp.abs(reward[:, None] - reward[None, :]) + discount * next_distance
        return jnp.mean(huber(predicted - jax.lax.stop_gradient(wanted), 1.0))


def mico_distances(x: Float[Array, "P D"], y: Float[Array, "Q D"], beta: float) -> Float[Array, "P Q"]:
    """U(x, y) = ½(‖x‖² + ‖y‖²) + β angle(x, y) of every pair, from one matrix product."""
    squares = jnp.sum(x * x, axis=1)[:, None], jnp.sum(y * y, axis=1)[None, :]
    cosine = (x @ y.T) / (safe_sqrt(squares[0]) * safe_sqrt(squares[1]) + 1e-9)
    angle = jnp.arctan2(safe_sqrt(1.0 - cosine * cosine), cosine)
    return 0.5 * (squares[0] + squares[1]) + beta * angle


def safe_sqrt(x: Float[Array, "*axes"]) -> Float[Array, "*axes"]:
    """Square root; value and gradient are zero where the argument is not positive."""
    positive = x > 1e-30
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)
