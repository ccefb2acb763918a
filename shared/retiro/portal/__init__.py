"""What all HTTP handlers share: principals, problems, scopes, idempotency, strict bodies. Workers import none of it."""

from retiro.portal.bodies import Amount, Answer, Body, Query
from retiro.portal.frame import Portal
from retiro.portal.languages import Language
from retiro.portal.pages import PageQuery, cursor
from retiro.portal.principals import Principal
from retiro.portal.problems import FieldError, Problem, conflict, forbidden, not_found, refused, spoken

__all__ = [
    "Amount",
    "Answer",
    "Body",
    "FieldError",
    "Language",
    "PageQuery",
    "Portal",
    "Principal",
    "Problem",
    "Query",
    "conflict",
    "cursor",
    "forbidden",
    "not_found",
    "refused",
    "spoken",
]
