"""What every clause of the section cites, and its two kinds of debt."""

from typing import Literal

from retiro.rules.forms import Sentence

SECTION = "3 L.P.R.A. § 830q"

DebtKind = Literal["unaccounted_service", "withdrawn_contributions"]

KIND_IN_WORDS: dict[DebtKind, Sentence] = {
    "unaccounted_service": Sentence("unaccounted service", "servicios no cotizados"),
    "withdrawn_contributions": Sentence("withdrawn contributions", "aportaciones retiradas"),
}
