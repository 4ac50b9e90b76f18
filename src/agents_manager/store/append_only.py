"""A table that rows are added to and never changed in nor taken from, whoever tries."""

TABLE = "am_audit"
REFUSAL = f"{TABLE} is append-only"
SQLITE = tuple(
    f"CREATE TRIGGER {TABLE}_no_{act.lower()} BEFORE {act} ON {TABLE}"
    f" BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    for act in ("UPDATE", "DELETE")
)
POSTGRES = (
    f"CREATE OR REPLACE FUNCTION {TABLE}_keep() RETURNS trigger LANGUAGE plpgsql AS"
    f" $$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
    f"CREATE TRIGGER {TABLE}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {TABLE}"
    f" FOR EACH STATEMENT EXECUTE FUNCTION {TABLE}_keep()",
)


def statements(dialect: str) -> tuple[str, ...]:
    return SQLITE if dialect == "sqlite" else POSTGRES
