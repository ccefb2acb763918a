"""A length of credited service, in years, months and days, as the statutes count it."""

from typing import Annotated

from pydantic import Field

from retiro.rules.forms import Form

LAST_MONTH = 11
LAST_DAY = 30


class ServiceLength(Form):
    """Years, months through 11 and days through 30. Months and days that are left out are none."""

    years: Annotated[int, Field(ge=0)]
    months: Annotated[int, Field(ge=0, le=LAST_MONTH)] = 0
    days: Annotated[int, Field(ge=0, le=LAST_DAY)] = 0

    def reaches(self, years: int) -> bool:
        """Whether it is so many whole years or more."""
        return self.years >= years

    def exceeds(self, years: int) -> bool:
        """Whether it is more than so many whole years, by a day at least."""
        return (self.years, self.months, self.days) > (years, 0, 0)
