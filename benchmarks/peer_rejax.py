"""rejax's compiled DQN as a worker of `benchmarks.peers`; it runs in an environment without Chorus."""

from benchmarks.peer_tasks import BUFFER, ENVS, HIDDEN, MINATAR_BATCH, MINATAR_TURN, WARM_UP_MINATAR
from benchmarks.peer_turns import Turns, limit_to_one_thread


def main() -> None:
    limit_to_one_thread()
    turns = Turns()
    import jax
    from rejax import get_algo

    algorithm = get_algo("dqn").create(
        env="Breakout-MinAtar",
        agent_kwargs={"activation": "relu"},
        num_envs=ENVS,
        # Updates after each step of all environments.
        num_epochs=ENVS // 4,
        batch_size=MINATAR_BATCH,
        buffer_size=BUFFER,
        fill_buffer=1_000,
        target_update_freq=4_000,
        polyak=0.0,
        total_timesteps=1_000_000,
    )
    # Copied, because network and target start as the same arrays, which cannot be donated twice.
    state = jax.tree.map(jax.numpy.copy, algorithm.init_state(jax.random.key(0)))
    widths = sorted(leaf.shape[-1] for leaf in jax.tree.leaves(state.q_ts.params) if leaf.ndim == 2)[-2:]
    assert tuple(widths) == HIDDEN, widths

    def steps(count: int) -> None:
        nonlocal state
        state = jax.block_until_ready(advance(state, count // ENVS))

    # The number of iterations is an argument, so there is one program.
    advance = jax.jit(
        lambda state, count: jax.lax.fori_loop(0, count, lambda _, s: algorithm.train_iteration(s), state),
        donate_argnums=0,
    )
    steps(WARM_UP_MINATAR)
    turns.serve(lambda: steps(MINATAR_TURN))


if __name__ == "__main__":
    main()
