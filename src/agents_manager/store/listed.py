"""Rows of the things on a list, by a statement that is the same however long the list is."""

from typing import Any

from sqlalchemy import ColumnElement, String, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class each(FunctionElement[str]):
    """The texts of a JSON list, one a row."""

    inherit_cache = True


@compiles(each, "sqlite")
def _(element: each, compiler: SQLCompiler, **kw: Any) -> str:
    ids = compiler.process(element.clauses, **kw)
    return f"(SELECT value FROM json_each({ids}))"  # noqa: S608 - a placeholder


@compiles(each, "postgresql")
def _(element: each, compiler: SQLCompiler, **kw: Any) -> str:
    ids = compiler.process(element.clauses, **kw)
    return f"(SELECT jsonb_array_elements_text(CAST({ids} AS jsonb)))"


class each_number(each):
    """The same of whole numbers."""

    inherit_cache = True


@compiles(each_number, "postgresql")
def _(element: each_number, compiler: SQLCompiler, **kw: Any) -> str:
    numbers = compiler.process(element.clauses, **kw)
    return f"(SELECT CAST(jsonb_array_elements_text(CAST({numbers} AS jsonb)) AS bigint))"


def among(column: ColumnElement[Any], name: str = "ids") -> ColumnElement[bool]:
    return column.op("IN", is_comparison=True)(each(bindparam(name, type_=String())))


def numbered(column: ColumnElement[Any], name: str = "ids") -> ColumnElement[bool]:
    return column.op("IN", is_comparison=True)(each_number(bindparam(name, type_=String())))
