"""What one row of the tables of options says of a setting, and what is done with all rows of a table.

Classes declare the fields of those settings that the code reads, for their types. They get the fields of all others,
and the defaults of all, from the table.
"""

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar, cast

import attrs
import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import force_setattr, replace

from arena.plan import option_writers as write
from arena.plan.option_readers import Reader
from arena.plan.option_writers import Writer
from arena.support.text import printable

S = TypeVar("S", bound=Struct)


def _as_it_is(value: Any) -> Any:
    return value


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value.value if isinstance(value, enum.Enum) else value)


class Option(Struct, frozen=True):
    name: str
    read: Reader
    help: str
    metavar: str = "TEXT"
    default: Any = None
    flag: bool = False  # on the command line it has no value and means true
    value_if_alone: str | None = None  # the value that it has on the command line if none is given
    several: bool = False  # on the command line it may be given more than once
    secret: bool = False  # its value is not shown in messages
    choices: tuple[str, ...] = ()  # the words that a shell offers
    field: str = ""  # of the object that keeps its value; empty: like its name
    unset: str = ""  # its default in the help, if that is no fixed value
    write: Writer = write.plain  # its value as in a file
    recorded: bool = False  # in the opening line of a journal
    record: Callable[[Any], Any] = _as_it_is  # its value as in a journal
    may_change: bool = False  # a tournament resumes with another value, as it does with one that is not recorded
    of_starter: bool = False  # whoever starts a recorded bot gives it anew, because anybody can write a record
    label: str = ""  # its words in a report; empty: it is not shown there
    in_words: Callable[[Any], str] = _in_words  # its value in a report

    def __post_init__(self) -> None:
        force_setattr(self, "field", self.field or self.key)

    @property
    def key(self) -> str:
        """Its name in a journal."""
        return self.name.replace("-", "_").replace(" ", "_")

    @property
    def has_to_stay(self) -> bool:
        """Whether a tournament only resumes with the same value."""
        return self.recorded and not self.may_change

    @property
    def whole_help(self) -> str:
        is_shown = self.default not in (None, (), "")
        default = self.unset or (self.bare(self.record(self.default)) if is_shown else "")
        return f"{self.help}  [{default}]" if default else self.help

    def written(self, value: Any) -> str:
        """A recorded value, for messages."""
        return "none" if value is None else printable(self.write(value))

    def bare(self, value: Any) -> str:
        """A recorded value as on the command line, without quotes."""
        return self.write(value).strip('"')


Table = tuple[Option, ...]
_Fields = list["attrs.Attribute[Any]"]


def by_name(*tables: Iterable[Option]) -> dict[str, Option]:
    return {option.name: option for table in tables for option in table}


def parts_of(whole: Any, *rows: Option) -> Table:
    """The table of an object that is recorded as a whole, and whose class has the defaults."""
    return tuple(replace(row, default=getattr(whole, row.field), recorded=True) for row in rows)


def fields_of(table: Table, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that options set; others keep their defaults."""
    return {row.field: values[row.name] for row in table if row.name in values}


def recorded_values(record: type[Struct], table: Table, source: Any) -> dict[str, Any]:
    """The settings in `source` that are recorded, by their names in a journal, without those that `record` has by
    default."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(record)}
    found = {row.key: row.record(getattr(source, row.field)) for row in table if row.recorded}
    return {key: value for key, value in found.items() if value != defaults[key]}


def recorded_settings(
    record: Struct, table: Table, parts: Mapping[str, tuple[Table, Any]]
) -> Iterator[tuple[Option, Any]]:
    """Yield each setting of the table that a record has, with its value, in the order of the record. It is None if it
    was not recorded; one of several values is sorted and may be empty. `parts` are the fields that are objects of more
    than one setting: their tables, and what they are if they were not recorded."""
    rows = {row.key: row for row in table if row.recorded}
    for key in record.__struct_fields__:
        value = getattr(record, key)
        if key in parts:
            part, missing = parts[key]
            yield from ((row, getattr(value or missing, row.field)) for row in part)
        elif key in rows and rows[key].several:
            yield rows[key], tuple(sorted(value or ()))
        elif key in rows:
            yield rows[key], None if value is UNSET else value


# The default of a field whose row has it. mypy only learns that there is one, and attrs, until `with_rows` replaces it.
FROM_ROW: Any = attrs.field(default=None)


def with_rows(table: Table) -> Callable[[type, _Fields], _Fields]:
    """A `field_transformer` for a class of attrs that keeps the values of these options."""
    rows = {row.field: row for row in table}

    def transform(_class: type, fields: _Fields) -> _Fields:
        missing = [name for name in rows if name not in {field.name for field in fields}]
        added = [fields[0].evolve(name=name, alias=name, type=Any, kw_only=True) for name in missing]
        return [
            field.evolve(default=row.default, repr=not row.secret) if (row := rows.get(field.name)) else field
            for field in (*fields, *added)
        ]

    return transform


def recording(table: Table) -> Callable[[type[S]], type[S]]:
    """Complete a struct of a journal by the recorded options of this table that it does not declare. They are of the
    type of their default, and left out if they have it: journals from before an option say the same without it."""

    def complete(record: type[S]) -> type[S]:
        rows = [row for row in table if row.recorded and row.key not in record.__struct_fields__]
        defaults = [(row.key, row.record(row.default)) for row in rows]
        more = [(key, Any if default is None else type(default), default) for key, default in defaults]
        found = msgspec.defstruct(record.__name__, more, bases=(record,), module=record.__module__, kw_only=True)
        return cast("type[S]", found)

    return complete
