"""What a notice to end a tenancy is called (Domain B4): its kinds, and the grounds that it names."""

from typing import Annotated, Literal

from msgspec import Meta

NoticeBy = Literal["landlord", "tenant"]
NoticeKind = Literal[
    "section_8",
    "section_21",
    "section_173",
    "section_186",
    "section_194",
    "possession_notice",
    "notice_to_leave",
    "notice_to_quit",
    "section_25",
    "tenant_notice",
]
_Ones = Literal["1", "1A", "1B", "2", "2ZA", "2ZB", "2ZC", "2ZD", "3", "4", "4A", "5", "5A", "5B", "5C", "5D", "5E"]
_Sixes = Literal["5F", "5G", "5H", "6", "6A", "6B", "7", "7A", "7B", "8", "9", "10", "11", "12", "12A", "13", "14"]
_Others = Literal["14ZA", "14A", "15", "16", "17", "18"]
_Words = Literal["breach", "anti_social_behaviour", "estate_management", "serious_arrears"]
NoticeGround = Literal[_Ones, _Sixes, _Others, _Words]
NoticeKindField = Annotated[
    NoticeKind,
    Meta(
        description="England, Housing Act 1988: `section_8`, with grounds; `section_21` before 2026-05-01. Wales, "
        "Renting Homes (Wales) Act 2016: `section_173`, `section_186`, `section_194` (a break clause), "
        "`possession_notice` with grounds. Scotland: `notice_to_leave`, with grounds. Business premises: `section_25` "
        "of the Landlord and Tenant Act 1954. `notice_to_quit`: Northern Ireland, and where there is the common law "
        "alone. `tenant_notice`: by the tenant, wherever it lies."
    ),
]
NoticeGrounds = Annotated[
    list[NoticeGround],
    Meta(
        max_length=20,
        description="With `section_8` the grounds of Schedule 2 of the Housing Act 1988, with `notice_to_leave` those "
        "of Schedule 3 of the Private Housing (Tenancies) (Scotland) Act 2016, with `possession_notice` the words.",
    ),
]
