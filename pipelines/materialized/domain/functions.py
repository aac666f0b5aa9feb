"""Which functions a definition may use: those that give the same for the same row, always."""

from sqlglot import exp

from pipelines.commits.domain.moments import present_text
from pipelines.materialized.domain.refusals import Refused

_ALLOWED: tuple[type[exp.Expression], ...] = (
    # Conditions and casts.
    exp.And, exp.Or, exp.Xor, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Nvl2, exp.Cast,
    exp.TryCast, exp.Greatest, exp.Least, exp.IsNan,
    # Numbers.
    exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Mod, exp.Pow, exp.Sqrt, exp.Sign, exp.Ln, exp.Log,
    exp.Exp,
    # Texts.
    exp.Upper, exp.Lower, exp.Trim, exp.Substring, exp.Length, exp.Concat, exp.ConcatWs,
    exp.Replace, exp.Left, exp.Right, exp.Initcap, exp.RegexpReplace, exp.RegexpExtract,
    exp.StartsWith, exp.EndsWith, exp.Contains, exp.SplitPart, exp.MD5, exp.SHA2, exp.Pad,
    exp.Reverse, exp.Repeat, exp.RegexpLike,
    # Days and times.
    exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.Date, exp.Year, exp.Month, exp.Day, exp.Quarter,
    exp.Week, exp.WeekOfYear, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear, exp.Extract,
    exp.DateTrunc, exp.TimestampTrunc, exp.TsOrDsAdd, exp.DateAdd, exp.DateSub, exp.DateDiff,
    exp.TsOrDsDiff, exp.TimeToStr, exp.StrToTime, exp.StrToDate, exp.LastDay, exp.UnixToTime,
    exp.Hour, exp.Minute, exp.Second,
    # Structures.
    exp.JSONExtract, exp.JSONExtractScalar, exp.Struct, exp.Array,
)  # fmt: skip


def check_functions(tree: exp.Expression) -> None:
    """Refuse what may give another value for the same row later, or runs code.

    Raises:
        Refused: The function, or the text that is read as the present moment.
    """
    text = present_text(tree)
    if text:
        raise Refused(f"'{text}'", "it means the present moment where a date is meant; write dates")
    for one in tree.find_all(exp.Func):
        if isinstance(one, (exp.AggFunc, *_ALLOWED)):
            continue
        name = one.name if isinstance(one, exp.Anonymous) else one.sql_name()
        raise Refused(
            f"{name.lower()}()",
            "it is not known to give the same value for the same row at any time",
        )
