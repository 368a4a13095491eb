"""The peer: FastAPI + SQLAlchemy 2 + SQLite doing the daemon's work, in three forms.

/invoices, /entities/{id}, POST /invoices   as both manuals teach it: sessions in threads, response models
/lean/...                                   handlers on the loop, models validated and dumped once
/bare/invoices                              no models at all: Core selects, dictionaries, orjson
"""

import datetime
import hashlib
import uuid
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any

import orjson
from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request, Response
from pydantic import TypeAdapter
from schemas import EntityOut, InvoiceIn, InvoiceOut, LineIn, Page, amount_text
from sqlalchemy import select, text, update
from sqlalchemy.orm import Session, selectinload, sessionmaker
from tables import ApiKey, Client, Invoice, InvoiceLine, InvoiceSequence, LegalEntity, connect

RATES = {"standard": Decimal(20), "reduced": Decimal(5), "zero": Decimal(0)}
_page_adapter = TypeAdapter(Page[InvoiceOut])


def get_session(request: Request) -> Iterator[Session]:
    """A session of this request alone."""
    with request.app.state.sessions() as session:
        yield session


SessionDep = Annotated[Session, Depends(get_session)]


def find_key(session: Session, authorization: str) -> ApiKey:
    """The caller's key. 401 without one."""
    token = authorization.removeprefix("Bearer ")
    digest = hashlib.sha256(token.encode()).digest()
    key = session.scalar(select(ApiKey).where(ApiKey.hash == digest, ApiKey.revoked_at.is_(None)))
    if key is None:
        raise HTTPException(401)
    return key


def caller(session: SessionDep, authorization: Annotated[str, Header()] = "") -> ApiKey:
    return find_key(session, authorization)


CallerDep = Annotated[ApiKey, Depends(caller)]
Limit = Annotated[int, Query(ge=1, le=100)]


def invoice_page(session: Session, org_id: str, limit: int, cursor: str | None) -> tuple[list[Invoice], str | None]:
    """The newest invoices with client and lines, and where the next page starts."""
    wanted = select(Invoice).where(Invoice.org_id == org_id).order_by(Invoice.id.desc()).limit(limit + 1)
    if cursor is not None:
        wanted = wanted.where(Invoice.id < cursor)
    wanted = wanted.options(selectinload(Invoice.lines), selectinload(Invoice.client))
    found = list(session.scalars(wanted))
    return found[:limit], found[limit - 1].id if len(found) > limit else None


def find_entity(session: Session, org_id: str, entity_id: str) -> LegalEntity:
    """404 for another organization's."""
    entity = session.scalar(select(LegalEntity).where(LegalEntity.org_id == org_id, LegalEntity.id == entity_id))
    if entity is None:
        raise HTTPException(404)
    return entity


def create_invoice(session: Session, org_id: str, wanted: InvoiceIn) -> Invoice:
    """Number it, compute it, commit it."""
    client = session.scalar(select(Client).where(Client.org_id == org_id, Client.id == wanted.client_id))
    seller = session.scalar(select(LegalEntity).where(LegalEntity.org_id == org_id))
    if client is None or seller is None:
        raise HTTPException(422)
    lines = [build_line(position, line) for position, line in enumerate(wanted.lines, start=1)]
    number = session.scalar(
        update(InvoiceSequence)
        .where(InvoiceSequence.org_id == org_id)
        .values(last_number=InvoiceSequence.last_number + 1)
        .returning(InvoiceSequence.last_number)
    )
    invoice = build_invoice(org_id, f"INV-{number:06d}", client, seller, lines)
    session.add(invoice)
    session.commit()
    return invoice


def build_line(position: int, line: LineIn) -> InvoiceLine:
    net = int((line.quantity * line.unit_price * 100).quantize(Decimal(1), ROUND_HALF_UP))
    vat = int((net * RATES[line.vat_code] / 100).quantize(Decimal(1), ROUND_HALF_UP))
    return InvoiceLine(
        position=position,
        description=line.description,
        quantity=f"{line.quantity:f}",
        unit=line.unit,
        unit_price=int(line.unit_price * 100),
        discount_percent="0",
        vat_code=line.vat_code,
        vat_rate_percent=f"{RATES[line.vat_code]:f}",
        category=None,
        net=net,
        vat=vat,
        gross=net + vat,
        property_id=None,
        cis_labour=False,
    )


def _summary(lines: list[InvoiceLine]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for line in lines:
        sums = groups.setdefault((line.vat_code, line.vat_rate_percent), [0, 0])
        sums[0] += line.net
        sums[1] += line.vat
    return [
        {
            "vatCode": code,
            "ratePercent": rate,
            "net": amount_text(net),
            "vat": amount_text(vat),
            "reverseCharge": False,
        }
        for (code, rate), (net, vat) in groups.items()
    ]


def build_invoice(org_id: str, number: str, client: Client, seller: LegalEntity, lines: list[InvoiceLine]) -> Invoice:
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    net, vat = sum(line.net for line in lines), sum(line.vat for line in lines)
    return Invoice(
        id=f"inv_{now:%Y%m%d%H%M%S%f}{uuid.uuid4().hex[:12]}",
        org_id=org_id,
        number=number,
        origin="system",
        kind="invoice",
        status="issued",
        legal_entity_id=seller.id,
        client=client,
        seller_snapshot={
            "name": seller.legal_name,
            "address": seller.address,
            "vatNumber": seller.vat_number,
            "companyNumber": seller.company_number,
        },
        issue_date=now.date(),
        supply_date=now.date(),
        due_date=now.date() + datetime.timedelta(days=client.payment_terms_days),
        currency="GBP",
        amounts_are="exclusive",
        vat_rounding="line",
        net_total=net,
        vat_total=vat,
        gross_total=net + vat,
        discount_amount=0,
        discount_total=0,
        reverse_charge_vat=0,
        vat_summary=_summary(lines),
        cis_deduction=0,
        paid_total=0,
        credited_total=0,
        balance_due=net + vat,
        created_at=now,
        updated_at=now,
        version=1,
        lines=lines,
    )


def create_app(database: str) -> FastAPI:
    """The application over an existing database."""
    app = FastAPI()
    app.state.sessions = sessionmaker(connect(database), expire_on_commit=False)
    _add_usual(app)
    _add_lean(app)
    _add_bare(app)
    return app


def _add_usual(app: FastAPI) -> None:
    @app.get("/invoices", response_model=Page[InvoiceOut])
    def list_invoices(session: SessionDep, key: CallerDep, limit: Limit = 50, cursor: str | None = None) -> Any:
        data, next_cursor = invoice_page(session, key.org_id, limit, cursor)
        return {"data": data, "next_cursor": next_cursor}

    @app.get("/entities/{entity_id}", response_model=EntityOut)
    def get_entity(entity_id: str, session: SessionDep, key: CallerDep) -> Any:
        return find_entity(session, key.org_id, entity_id)

    @app.post("/invoices", response_model=InvoiceOut)
    def post_invoice(wanted: InvoiceIn, session: SessionDep, authorization: Annotated[str, Header()] = "") -> Any:
        session.execute(text("BEGIN IMMEDIATE"))  # a reader that becomes a writer would fail instead of wait
        return create_invoice(session, find_key(session, authorization).org_id, wanted)


def _add_lean(app: FastAPI) -> None:
    sessions = app.state.sessions
    Authorization = Annotated[str, Header()]  # noqa: N806 - a type

    @app.get("/lean/invoices")
    async def list_invoices(
        authorization: Authorization = "", limit: Limit = 50, cursor: str | None = None
    ) -> Response:
        with sessions() as session:
            found, next_cursor = invoice_page(session, find_key(session, authorization).org_id, limit, cursor)
            page = Page[InvoiceOut](data=[InvoiceOut.model_validate(row) for row in found], next_cursor=next_cursor)
        return Response(_page_adapter.dump_json(page, by_alias=True), media_type="application/json")

    @app.get("/lean/entities/{entity_id}")
    async def get_entity(entity_id: str, authorization: Authorization = "") -> Response:
        with sessions() as session:
            entity = EntityOut.model_validate(find_entity(session, find_key(session, authorization).org_id, entity_id))
        return Response(entity.model_dump_json(by_alias=True), media_type="application/json")

    @app.post("/lean/invoices")
    async def post_invoice(wanted: InvoiceIn, authorization: Authorization = "") -> Response:
        with sessions() as session:
            invoice = create_invoice(session, find_key(session, authorization).org_id, wanted)
            body = InvoiceOut.model_validate(invoice).model_dump_json(by_alias=True)
        return Response(body, media_type="application/json")


_HEAD = [column for column in Invoice.__table__.columns if column.key != "org_id"]
_MONEY = frozenset(
    (
        "net_total",
        "vat_total",
        "gross_total",
        "discount_amount",
        "discount_total",
        "reverse_charge_vat",
        "cis_deduction",
        "paid_total",
        "credited_total",
        "balance_due",
    )
)
_LINE = list(InvoiceLine.__table__.columns)
_LINE_MONEY = frozenset(("unit_price", "net", "vat", "gross"))
_CLIENT = [column for column in Client.__table__.columns if column.key not in ("org_id", "payment_terms_days")]


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


_NAMES = {column.key: _camel(column.key) for column in (*_HEAD, *_LINE, *_CLIENT)}


def _shown(row: Any, money: frozenset[str]) -> dict[str, Any]:
    return {_NAMES[key]: amount_text(value) if key in money else value for key, value in row.items()}


def _add_bare(app: FastAPI) -> None:
    engine = app.state.sessions.kw["bind"]
    find = select(ApiKey.org_id).where(ApiKey.revoked_at.is_(None))
    page = select(*_HEAD).order_by(Invoice.id.desc())

    @app.get("/bare/invoices")
    async def list_invoices(authorization: Annotated[str, Header()] = "", limit: Limit = 50) -> Response:
        digest = hashlib.sha256(authorization.removeprefix("Bearer ").encode()).digest()
        with engine.connect() as connection:
            org_id = connection.scalar(find.where(ApiKey.hash == digest))
            if org_id is None:
                raise HTTPException(401)
            heads = connection.execute(page.where(Invoice.org_id == org_id).limit(limit + 1)).mappings().all()
            ids = [head["id"] for head in heads[:limit]]
            lines = connection.execute(select(*_LINE).where(InvoiceLine.invoice_id.in_(ids))).mappings().all()
            wanted = {head["client_id"] for head in heads}
            clients = connection.execute(select(*_CLIENT).where(Client.id.in_(wanted))).mappings().all()
        by_client = {client["id"]: _shown(client, frozenset()) for client in clients}
        data = {
            head["id"]: {**_shown(head, _MONEY), "client": by_client[head["client_id"]], "lines": []}
            for head in heads[:limit]
        }
        for line in lines:
            data[line["invoice_id"]]["lines"].append(_shown(line, _LINE_MONEY))
        cursor = ids[-1] if len(heads) > limit else None
        return Response(
            orjson.dumps({"data": list(data.values()), "nextCursor": cursor}), media_type="application/json"
        )
