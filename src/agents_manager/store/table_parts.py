"""What the tables are made of."""

from typing import Any

from sqlalchemy import Column, ForeignKey, Index, MetaData, String, text

from agents_manager.store.columns import Id

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def own_id() -> Column[str]:
    return Column("id", Id, primary_key=True)


def of_task() -> Column[str]:
    return Column("task_id", Id, ForeignKey("am_task.id"), nullable=False)


def of_project() -> Column[str]:
    return Column("project_id", Id, ForeignKey("am_project.id"), nullable=False)


def must(*names: str, be: Any = String) -> list[Column[Any]]:
    return [Column(name, be, nullable=False) for name in names]


def may(*names: str, be: Any = String) -> list[Column[Any]]:
    return [Column(name, be) for name in names]


def partial(name: str, *columns: str, where: str, unique: bool = True) -> Index:
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)
