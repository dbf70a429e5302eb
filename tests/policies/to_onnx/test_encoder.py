"""Encoders in JAX as ONNX graphs: ONNX Runtime gives what JAX gives, for any number of rows, or a primitive is named."""

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import pytest
from jax import lax
from onnx import TensorProto, helper, numpy_helper

import cuprl
from cuprl.core.encoder import to_names
from cuprl.errors import UserError
from cuprl.policies.to_onnx.encoder import encoder_nodes
from scripts import script

ort = pytest.importorskip("onnxruntime")
ROWS = (1, 5)


def same(apply, dim, params=None):
    """Compare the graph with the function on random observations; returns the operators used."""
    params = params or {}
    arrays = to_names(params) if params else {}
    nodes, name = encoder_nodes(cuprl.Encoder(lambda key, dim: params, apply), arrays, dim, "obs")
    width = jax.eval_shape(apply, params, jnp.ones((2, dim))).shape[1]
    graph = helper.make_graph(
        [*nodes, helper.make_node("Identity", [name], ["features"])],
        "encoder",
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, ["batch", dim])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["batch", width])],
        [numpy_helper.from_array(np.asarray(array), f"encoder/{name}") for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for rows in ROWS:
        obs = np.asarray(np.random.default_rng(rows).normal(size=(rows, dim)), np.float32)
        (found,) = session.run(None, {"obs": obs})
        np.testing.assert_allclose(found, jax.jit(apply)(params, obs), rtol=2e-5, atol=2e-6)
    return {node.op_type for node in nodes}


def drawn(*shape):
    return jax.random.normal(jax.random.PRNGKey(len(shape)), shape)


def test_the_example_of_pixels(monkeypatch):
    module = script("examples/pixel_encoder.py")
    assert "MatMul" in same(module.apply, 432, module.init(jax.random.PRNGKey(0), 432))


def together(functions):
    """An encoder that has the results of all beside each other."""
    return lambda params, x: jnp.concatenate([function(x) for function in functions], axis=1)


ACTIVATIONS = ["relu", "elu", "swish", "gelu", "softplus", "leaky_relu", "selu", "hard_tanh", "soft_sign", "softmax", "glu"]


def test_activations():
    same(together([getattr(jax.nn, name) for name in ACTIVATIONS]), 6)


ENTRY_BY_ENTRY = [
    *(jnp.tanh, jnp.exp, jnp.abs, jnp.sin, jnp.cos, jnp.square, jnp.sign, jnp.floor, jnp.expm1, lax.erfc),
    *(lambda x: -x, lambda x: x**3, lambda x: jnp.abs(x) ** 0.7, lambda x: 1.0 / (x**2 + 1.0)),
    *(lambda x: jnp.log(x**2 + 0.1), lambda x: lax.rsqrt(x**2 + 1.0), lambda x: jnp.log1p(x**2)),
    *(lambda x: jnp.minimum(x, 0.3) / 0.7 - jnp.maximum(0.1, x), lambda x: jnp.clip(x, -0.5, 0.5)),
    *(lambda x: lax.clamp(-0.2, x, 0.4), lambda x: jnp.where(x <= 0.0, 1.0, x), lax.stop_gradient),
    *(lambda x: jnp.where((x > 0.1) & ~(x >= 1.0) | (x != x), x, -2.0), lambda x: (x < 0.0).astype(np.float32)),
]


def test_entry_by_entry():
    same(together(ENTRY_BY_ENTRY), 5)


AXES = [
    lambda x: x[:, 2:9:3],
    lambda x: x[:, [4, 0, 4]],
    lambda x: x[:, -1:] + x[:, 3, None],
    lambda x: x[:, ::-1],
    lambda x: x.reshape(-1, 3, 4)[:, 1],
    lambda x: x.reshape(-1, 3, 4)[:, 1:, ::2].reshape(-1, 4),
    lambda x: x.reshape(-1, 3, 4)[:, np.array([[0, 2]]), np.array([[1], [3]])].reshape(-1, 4),
    lambda x: x.reshape(-1, 3, 4)[:, [2, 0]].transpose(0, 2, 1).reshape(-1, 8),
    lambda x: jnp.concatenate([x, jnp.ones((x.shape[0], 2)), x[:, :1] * jnp.arange(3.0)], axis=1),
    lambda x: jnp.stack([x, 2.0 * x], axis=1).max(axis=1),
    lambda x: sum(jnp.split(x, 3, axis=1)),
    lambda x: jnp.pad(x, ((0, 0), (1, 2)), constant_values=0.5),
    lambda x: jnp.broadcast_to(x.reshape(-1, 1, 12), (x.shape[0], 2, 12)).reshape(-1, 24),
    lambda x: lax.slice_in_dim(x, 2, 8, 2, axis=1),
    lambda x: jnp.squeeze(x[:, None, :], 1),
    lambda x: jnp.tile(x, (1, 2)),
]


def test_axes():
    same(together(AXES), 12)


def test_norms():
    def apply(params, x):
        x = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return params["scale"] * x + x.min(axis=1, keepdims=True)

    same(apply, 7, {"scale": drawn(7)})


def test_attention():
    def apply(params, x):
        query, key, value = jnp.split(x.reshape(-1, 6, 5) @ params["weight"], 3, axis=-1)
        share = jax.nn.softmax(jnp.einsum("btd,bsd->bts", query, key) / 2.0)
        return jnp.einsum("bts,bsd->btd", share, value).reshape(x.shape[0], -1)

    assert "Einsum" in same(apply, 30, {"weight": drawn(5, 12)})


@pytest.mark.parametrize("order, kernel, padding", [("NHWC", "HWIO", "SAME"), ("NCHW", "OIHW", ((1, 0), (2, 2)))])
def test_convolutions(order, kernel, padding):
    image, shape = ((-1, 8, 6, 2), (3, 3, 2, 4)) if order == "NHWC" else ((-1, 2, 8, 6), (4, 2, 3, 3))

    def apply(params, x):
        more = {"rhs_dilation": (1, 2), "dimension_numbers": (order, kernel, order)}
        out = lax.conv_general_dilated(x.reshape(image), params[0], (2, 1), padding, **more)
        return jax.nn.relu(out).reshape(x.shape[0], -1)

    assert "Conv" in same(apply, 96, [drawn(*shape)])


def test_pooling():
    def apply(params, x):
        x = x.reshape(-1, 8, 6, 2)
        most = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 3, 1), (1, 2, 1, 1), "SAME")
        mean = lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4.0
        return jnp.concatenate([most.reshape(x.shape[0], -1), mean.reshape(x.shape[0], -1)], axis=1)

    assert {"MaxPool", "AveragePool"} <= same(apply, 96)


def test_functions_that_are_called():
    @jax.custom_jvp
    def steep(x):
        return 5.0 * x

    steep.defjvp(lambda primals, tangents: (steep(*primals), tangents[0]))
    same(lambda params, x: jax.jit(jnp.tanh)(steep(x)) + jax.checkpoint(jnp.sin)(x), 3)


@pytest.mark.parametrize(
    "function, named",
    [
        (lambda x: jnp.sort(x, axis=1), "JAX's sort,"),
        (lambda x: jnp.cumsum(x, axis=1), "JAX's cumsum,"),
        (
            lambda x: lax.conv_transpose(x.reshape(-1, 4, 1), jnp.ones((2, 1, 1)), (2,), "VALID")[..., 0],
            "conv_general_dilated with a",
        ),
        (lambda x: jax.vmap(lambda row: lax.dynamic_slice(row, (row.astype(int)[0],), (2,)))(x), "at places that depend on"),
        (lambda x: lax.pad(x, 0.0, ((0, 0, 0), (0, 0, 1))), "pad within an array"),
    ],
)
def test_what_is_not_written_is_named(function, named):
    with pytest.raises(UserError, match=named) as told:
        same(lambda params, x: function(x), 4)
    assert "export --to jax" in str(told.value) and "\n" not in str(told.value)
