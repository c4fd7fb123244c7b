"""Value and view have one API, the facade has all of it, and every class is abstract or final."""

import abc
import inspect

import pytest

import tensorwrapper.shape
from tensorwrapper.shape import (
    IndexIterator,
    Indices,
    Jagged,
    JaggedCommon,
    JaggedView,
    Nested,
    NestedCommon,
    NestedView,
    Shape,
    ShapeCommon,
    ShapeExpression,
    Smooth,
    SmoothCommon,
    SmoothView,
    Tiled,
    Tiling,
    Triangular,
    as_shape,
)

PUBLIC = [getattr(tensorwrapper.shape, name) for name in tensorwrapper.shape.__all__]
CLASSES = [c for c in PUBLIC if inspect.isclass(c)]
ABSTRACT = {ShapeCommon, SmoothCommon, JaggedCommon, NestedCommon}

# What implementations have and the facade has not, and why.
NOT_ON_THE_FACADE = {
    "select",  # takes parsed entries: shape[...] and slice() are its faces
    "walk",  # a bare iterator: indices() is a sequence
    "bounding_box",  # two tuples: as_smooth() is a shape
    "rows",  # how a jagged shape is stored
    "keeps_rows",  # whether it is stored so
    "flat",  # the implementation under flatten()
    "rows_tell_all",  # whether equality may ask the rows
    "token",  # what ``__dask_tokenize__`` gives Dask
    "in_rows",  # for numberings, which cut runs of rows
    "cut_rows",  # for layouts, which begin a run of rows at zero
    "one_box",  # for numberings, which know the places of boxes
    "find_cells",  # for layouts, which store cells by the leaf
    "layers_left",  # of keys: shape[...] has what is left
}


def api(cls):
    return {name for name, _ in inspect.getmembers_static(cls) if not name.startswith("_")}


def function_of(member):
    """The plain function behind a member, if there is one."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, classmethod | staticmethod):
        return member.__func__
    return member if inspect.isfunction(member) else None


def is_attribute(member):
    """Return True for a property, a slot or a constant, which readers see alike."""
    return isinstance(member, property) or function_of(member) is None


@pytest.mark.parametrize(
    ("value", "view", "more"),
    [
        # `of_box` is how a view of a whole shape is made; a value is made by calling the class.
        (Smooth, SmoothView, {"copy", "of_box"}),
        (Jagged, JaggedView, {"copy"}),
        (Nested, NestedView, {"copy"}),
    ],
)
def test_a_view_adds_a_copy_and_its_constructors(value, view, more):
    assert api(view) - api(value) == more
    assert api(value) - api(view) == set()


@pytest.mark.parametrize(
    ("value", "view"),
    [
        (Smooth, SmoothView),
        (Jagged, JaggedView),
        (Jagged, Tiled),
        (Jagged, Triangular),
        (Nested, NestedView),
        (ShapeCommon, Shape),
    ],
)
def test_what_two_classes_share_has_one_signature(value, view):
    compared = 0
    # An implementation takes one sequence, and a slice two; the facade takes them loose as well.
    loose = {"chip", "permute", "slice"} if view is Shape else set()
    for name in sorted((api(value) & api(view)) - loose):
        mine = inspect.getattr_static(value, name)
        theirs = inspect.getattr_static(view, name)
        assert is_attribute(mine) == is_attribute(theirs), name
        if is_attribute(mine):
            continue
        here, there = (
            [p.replace(annotation=p.empty) for p in inspect.signature(function_of(m)).parameters.values()]
            for m in (mine, theirs)
        )
        assert here == there, name
        compared += 1
    assert compared > 14


def test_what_two_kinds_share_has_one_signature_with_its_annotations():
    for value, view in ((Smooth, SmoothView), (Jagged, JaggedView), (Nested, NestedView)):
        for name in api(value) & api(view):
            members = [inspect.getattr_static(c, name) for c in (value, view)]
            assert is_attribute(members[0]) == is_attribute(members[1]), name
            left, right = map(function_of, members)
            if left is not None and right is not None:
                assert inspect.signature(left) == inspect.signature(right), name


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_has_slots(cls):
    for base in cls.__mro__:
        # `object` and the classes of `typing` and `abc` come from elsewhere.
        if base.__module__.startswith("tensorwrapper"):
            assert "__slots__" in vars(base), base
            assert "__dict__" not in vars(base), base


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_is_abstract_or_final(cls):
    abstract = cls in ABSTRACT or cls is ShapeExpression
    assert bool(getattr(cls, "__final__", False)) != abstract
    assert inspect.isabstract(cls) == abstract
    if abstract:
        assert issubclass(cls, abc.ABC)
        assert vars(cls)["__slots__"] == ()
        assert cls.__doc__.startswith("Abstract: ")


@pytest.mark.parametrize("cls", sorted(ABSTRACT, key=lambda c: c.__name__))
def test_the_facade_has_what_every_shape_can_do(cls):
    assert api(cls) - api(Shape) <= NOT_ON_THE_FACADE


def test_no_exception_from_parity_is_out_of_date():
    assert set.union(*[api(c) - api(Shape) for c in ABSTRACT]) == NOT_ON_THE_FACADE


@pytest.mark.parametrize(
    "cls", [Smooth, SmoothView, Jagged, JaggedView, Tiled, Triangular, Shape, Tiling, Indices]
)
def test_values_refuse_new_and_changed_attributes(cls):
    box, rows = Smooth((2,)), Shape.jagged([1])
    value = {
        Smooth: box,
        SmoothView: SmoothView.of_box(box),
        Jagged: rows.implementation,
        JaggedView: rows[:].implementation,
        Tiled: Shape.tiled([1]).implementation,
        Triangular: Triangular(2),
        Shape: rows,
        Tiling: Tiling([1]),
        Indices: rows.indices(),
    }[cls]
    assert type(value) is cls
    for name in ("anything", *[s for s in cls.__slots__ if s != "__weakref__"]):
        with pytest.raises(AttributeError):
            setattr(value, name, None)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_public_member_is_documented(cls):
    for name in api(cls):
        function = function_of(inspect.getattr_static(cls, name))
        if function is not None and function.__module__.startswith("tensorwrapper"):
            # What overrides is documented where it is declared.
            assert inspect.getdoc(inspect.getattr_static(cls, name)) or any(
                inspect.getdoc(inspect.getattr_static(base, name, None)) for base in cls.__mro__[1:]
            ), f"{cls.__name__}.{name}"


class Square(SmoothCommon):
    """A stranger's box: one number."""

    __slots__ = ("side",)

    def __init__(self, side):
        self.side = side

    @property
    def extents(self):
        return (self.side, self.side)

    @property
    def origin(self):
        return (0, 0)


class Triangle(JaggedCommon):
    """A stranger's jagged shape: row k has k + 1 indices."""

    __slots__ = ("side",)

    def __init__(self, side):
        self.side = side

    @property
    def rows(self):
        return Shape.jagged(range(1, self.side + 1), rank=2).implementation.rows


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (Square(3), Shape(3, 3)),
        (Triangle(3), Shape.jagged([1, 2, 3])),
        (Triangle(0), Shape.jagged([], rank=2)),
    ],
)
def test_a_representation_of_a_stranger_equals_ours(theirs, ours):
    shape = as_shape(theirs)
    assert shape == ours
    assert ours == shape
    assert hash(shape) == hash(ours)
    assert shape.kind == ours.kind
    assert list(shape.indices()) == list(ours.indices())
    assert list(shape.indices(order="F")) == list(ours.indices(order="F"))
    assert shape[0:1] == ours[0:1] if ours.size else shape[0:0] == ours[0:0]
    assert shape.as_smooth() == ours.as_smooth()
    assert shape.translate_by((1, 1)) == ours.translate_by((1, 1))
    assert shape.is_congruent(ours)
    assert shape.same_elements(ours)
    assert (str(shape), repr(shape)) == (str(ours), repr(ours))


def test_the_iterator_is_no_sequence():
    assert not hasattr(IndexIterator, "__len__")
    assert not hasattr(IndexIterator, "__getitem__")
