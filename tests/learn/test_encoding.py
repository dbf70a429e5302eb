"""Encoders of one's own in networks: what they give, and what is wrong with one, said before anything is learnt."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import cuprl
from cuprl.errors import UserError
from cuprl.learn.encoding import check_encoder, encode, features
from cuprl.learn.networks import Network


def init(key, obs_dim):
    return {"w": jax.random.normal(key, (obs_dim, 2)), "scale": [(jnp.ones(2),)]}


def apply(params, obs):
    return jnp.sin(obs @ params["w"]) * params["scale"][0][0]


def in_numpy(params, obs):
    return np.sin(obs @ params["w"]) * params["scale"][0][0]


SINE = cuprl.Encoder(init, apply, in_numpy)
SINE_IN_JAX = cuprl.Encoder(init, apply)
ANGLES = cuprl.Encoder(  # nothing to learn
    lambda key, obs_dim: {},
    lambda params, obs: jnp.concatenate((jnp.sin(obs), jnp.cos(obs)), axis=-1),
    lambda params, obs: np.concatenate((np.sin(obs), np.cos(obs)), axis=-1),
)


@pytest.mark.parametrize("encoder, size", [(SINE, 2), (SINE_IN_JAX, 2), (ANGLES, 6)])
@pytest.mark.parametrize("lead", [(), (5,), (2, 5)])
def test_features_before_the_layers(encoder, size, lead):
    check_encoder(encoder, 3)
    assert features(encoder, 3) == size
    network = Network((4,), "relu", encoder)
    params = network.init(jax.random.PRNGKey(1), 3, 2)
    assert params["layers"][0][0].shape == (size, 4)
    x = np.random.default_rng(0).normal(size=(*lead, 3)).astype(np.float32)
    seen = encoder.apply(params["encoder"], x.reshape(-1, 3)).reshape(*lead, size)
    np.testing.assert_allclose(encode(encoder, params["encoder"], x), seen, rtol=1e-6)
    (w0, b0), (w1, b1) = params["layers"]
    expected = np.maximum(seen @ w0 + b0, 0.0) @ w1 + b1
    host = jax.tree.map(np.asarray, params)
    out = network.apply(host, x, np)
    assert isinstance(out, np.ndarray) and out.dtype == np.float32
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(network.apply(params, jnp.asarray(x)), expected, rtol=1e-4, atol=1e-6)


def no_arguments():
    return {}


def broken(params, obs):
    raise RuntimeError("no such luck")


@pytest.mark.parametrize(
    "encoder, sentence",
    [
        (cuprl.Encoder(init, broken), r"apply of the encoder .* raised RuntimeError: no such luck \(test_encoding.py, line"),
        (cuprl.Encoder(no_arguments, apply), r"init of the encoder .* raised TypeError: .*; .*called with"),
        (cuprl.Encoder(init, lambda p, x: x[0]), r"gave float32 \[3\] for obs \[4, 3\]; give float32 \[4, any\]"),
        (cuprl.Encoder(init, lambda p, x: x.astype(int)), r"gave int32 \[4, 3\]"),
        (cuprl.Encoder(init, lambda p, x: x / 0.0), "gave NaN or infinite features"),
        (cuprl.Encoder(init, lambda p, x: x.reshape(4, 3)), "does not leave the number of rows open .* reshape with -1"),
        (cuprl.Encoder(init, apply, lambda p, x: x @ p["w"]), "numpy of the encoder .* not the features that apply gave"),
        (cuprl.Encoder(init, apply, lambda p, x: in_numpy(p, x).astype(float)), r"gave float64 \[4, 2\] and not"),
        (
            cuprl.Encoder(init, lambda p, x: x - x.mean(axis=0)),
            "other features alone than among others",
        ),
        (cuprl.Encoder(init, apply, broken), "numpy of the encoder .* raised RuntimeError"),
        (cuprl.Encoder(lambda k, n: {"w": jnp.arange(3)}, apply), "init of the encoder gave int32 as w"),
        (
            cuprl.Encoder(lambda k, n: {"a": (jnp.ones(3), jnp.ones(3))}, lambda p, x: x * (p["a"] + (1.0,))[0]),
            "with lists in the place of tuples, raised TypeError",
        ),
    ],
)
def test_what_is_wrong_is_said(encoder, sentence):
    with pytest.raises(UserError, match=sentence):
        check_encoder(encoder, 3)
