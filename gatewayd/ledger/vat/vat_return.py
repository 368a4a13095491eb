"""The boxes of a VAT return (Domain C4), under HMRC's names. Pure; minor units of GBP.

1 to 5 are to the penny, 6 to 9 whole pounds, the pence dropped.
"""

from typing import NamedTuple

POUND = 100


class VatFigures(NamedTuple):
    """What a return is made of. `acquisition` is what came from the EU into Northern Ireland.

    `output_vat` holds the reverse charge on purchases, and so does `input_vat`. Values are without VAT, but for sales
    that a flat rate is taken of.
    """

    output_vat: int = 0
    acquisition_vat: int = 0
    input_vat: int = 0
    sales: int = 0
    purchases: int = 0
    goods_supplied: int = 0
    acquisitions: int = 0

    def plus(self, other: "VatFigures") -> "VatFigures":
        """The sum."""
        return VatFigures(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class VatBoxes(NamedTuple):
    """Boxes 1 to 9."""

    vat_due_sales: int
    vat_due_acquisitions: int
    total_vat_due: int
    vat_reclaimed: int
    net_vat_due: int
    total_value_sales: int
    total_value_purchases: int
    total_value_goods_supplied: int
    total_acquisitions: int


def boxes(figures: VatFigures) -> VatBoxes:
    """The boxes that the figures fill."""
    due = figures.output_vat + figures.acquisition_vat
    return VatBoxes(
        vat_due_sales=figures.output_vat,
        vat_due_acquisitions=figures.acquisition_vat,
        total_vat_due=due,
        vat_reclaimed=figures.input_vat,
        net_vat_due=abs(due - figures.input_vat),
        total_value_sales=_whole_pounds(figures.sales),
        total_value_purchases=_whole_pounds(figures.purchases),
        total_value_goods_supplied=_whole_pounds(figures.goods_supplied),
        total_acquisitions=_whole_pounds(figures.acquisitions),
    )


def _whole_pounds(amount: int) -> int:
    """Without its pence, towards zero."""
    rounded = abs(amount) // POUND * POUND
    return rounded if amount >= 0 else -rounded
