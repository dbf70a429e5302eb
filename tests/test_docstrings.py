"""Every public function, class and method says in a docstring what a caller must know, a function beginning with a verb.

What is said once holds: a method needs none where a class that it inherits from documents it, or a Protocol of ours whose
methods its class has all. Modules fulfil Protocols too: `Algorithm` says what Config, init and update of each one are.
"""

import ast
import re

from test_layers import SOURCES

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
# What no imperative is: no capital letter, a plural or third person, and words that begin a noun or a clause.
NO_VERB = re.compile(
    r"[^A-Z]|[A-Z][^a-z]|[A-Z]\w*(?<!s)s\b|\w+'|(?:The|A|An|All|Each|Every|One|Those|Of|As|In|For|With|Without|From|To|At|About|"
    r"Within|While|Once|What|How|Why|Whether|Where|When|Which|Theorem|Proposition|Mean|Plain|Whole|Everything)\b"
)


def public(tree):
    """The functions and classes of a module or class that others may call."""
    return [node for node in tree.body if isinstance(node, (*FUNCTION, ast.ClassDef)) and not node.name.startswith("_")]


CLASSES = {node.name: node for tree in SOURCES.values() for node in tree.body if isinstance(node, ast.ClassDef)}


def bases(node):
    """The names of what a class inherits from, all the way up."""
    for base in node.bases:
        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        yield name
        yield from bases(CLASSES[name]) if CLASSES.get(name, node) is not node else ()


def methods(node):
    return {method.name: method for method in node.body if isinstance(method, FUNCTION)}


PROTOCOLS = [node for node in CLASSES.values() if "Protocol" in bases(node)]


def said_above(node):
    """What is documented where a class or module has it from: its bases, and Protocols that it fulfils."""
    above = [CLASSES[name] for name in bases(node) if name in CLASSES] if isinstance(node, ast.ClassDef) else []
    has = set().union(*(methods(one) for one in (node, *above)))
    above += [one for one in PROTOCOLS if one is not node and has >= set(methods(one))]
    documented = {name for one in above for name, method in methods(one).items() if ast.get_docstring(method)}
    fields = {field.target.id for one in above if one in PROTOCOLS for field in one.body if isinstance(field, ast.AnnAssign)}
    return documented | fields


def callables():
    """('learn.gae.gae', node) of every public function, class and method that must say something."""
    for module, tree in SOURCES.items():
        for node in (tree, *(one for one in public(tree) if isinstance(one, ast.ClassDef))):
            said, within = said_above(node), f"{module}.{node.name}" if isinstance(node, ast.ClassDef) else module
            for one in public(node):
                if one.name not in said or ast.get_docstring(one):
                    yield f"{within}.{one.name}", one


def test_everything_public_has_a_docstring():
    assert [name for name, node in callables() if not ast.get_docstring(node)] == []


def test_docstrings_of_functions_begin_with_a_verb():
    functions = [(name, ast.get_docstring(node)) for name, node in callables() if isinstance(node, FUNCTION)]
    assert [f"{name}: {said}" for name, said in functions if said and NO_VERB.match(said)] == []
