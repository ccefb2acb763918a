"""Who acts in the demonstration: a client for each party, bound to it, and made-up persons behind them."""

from dataclasses import dataclass
from functools import cached_property

from cli.api import Api
from cli.demo.population import EMPLOYERS, FUND
from cli.stacks import Stack
from retiro.ledger.plans import PENSION_PAYROLL
from retiro.registry import clients, employers
from retiro.registry.clients import Binding, Party
from retiro.registry.table import Table

PREPARES = "demo-person-1"
APPROVES = "demo-person-2"
PROPOSES = "demo-person-3"
ADOPTS = "demo-person-4"
CLERK = "demo-person-5"
TREASURER = "demo-person-6"

PAYERS = (*EMPLOYERS, PENSION_PAYROLL)
"""Who withholds and remits."""


@dataclass(frozen=True)
class People:
    """The API as each of them uses it."""

    stack: Stack
    language: str = "en"

    def introduce(self) -> None:
        """Bind the clients to their parties and register the payers. A second time changes nothing."""
        registry = Table(self.stack.client("dynamodb"), self.stack.outputs["RegistryTable"])
        for employer_id in PAYERS:
            employers.register(registry, employers.Employer(employer_id, FUND))
            clients.bind(
                registry, Binding(self._employers_client(employer_id), Party.EMPLOYER, employer_id=employer_id)
            )
        for party in (Party.PORTAL, Party.BOARD, Party.OFFICE):
            clients.bind(registry, Binding(self.stack.client_id(party), party))
        clients.bind(registry, Binding(self.stack.client_id(Party.FUND), Party.FUND, fund=FUND))

    @cached_property
    def preparer(self) -> Api:
        """Works in the office, enrols and prepares."""
        return self._api(self.stack.client_id(Party.OFFICE), PREPARES)

    @cached_property
    def approver(self) -> Api:
        """Works in the office, approves what another prepared."""
        return self._api(self.stack.client_id(Party.OFFICE), APPROVES)

    @cached_property
    def proposer(self) -> Api:
        """Enters the Board's resolutions."""
        return self._api(self.stack.client_id(Party.BOARD), PROPOSES)

    @cached_property
    def adopter(self) -> Api:
        """Adopts the Board's resolutions."""
        return self._api(self.stack.client_id(Party.BOARD), ADOPTS)

    @cached_property
    def treasurer(self) -> Api:
        """Confirms deposits for the fund."""
        return self._api(self.stack.client_id(Party.FUND), TREASURER)

    @cached_property
    def clerks(self) -> dict[str, Api]:
        """Remit for their agencies, by employer, and for the pension payroll."""
        return {one: self._api(self._employers_client(one), CLERK) for one in PAYERS}

    def _api(self, client_id: str, person: str) -> Api:
        return Api(self.stack, client_id=client_id, acting_user=person, language=self.language)

    def _employers_client(self, employer_id: str) -> str:
        """The employer's own API client: the template's for the first, and one like it for each other."""
        if employer_id == EMPLOYERS[0]:
            return self.stack.client_id(Party.EMPLOYER)
        cognito, pool = self.stack.client("cognito-idp"), self.stack.outputs["UserPoolId"]
        name = f"employer-{employer_id}"
        listed = cognito.list_user_pool_clients(UserPoolId=pool, MaxResults=60)["UserPoolClients"]
        for one in listed:
            if one["ClientName"] == name:
                return str(one["ClientId"])
        made = cognito.create_user_pool_client(
            UserPoolId=pool,
            ClientName=name,
            GenerateSecret=True,
            AllowedOAuthFlowsUserPoolClient=True,
            AllowedOAuthFlows=["client_credentials"],
            AllowedOAuthScopes=["retiro/payroll.remit"],
        )
        return str(made["UserPoolClient"]["ClientId"])
