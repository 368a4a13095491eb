"""An administrator of the instance, in front of the pages of administration."""

from tests.console.visiting import Browser, Site

ROOT = "root@example.com"


async def administrator(site: Site) -> tuple[str, Browser]:
    """An administrator of the instance who belongs to no organization, signed in."""
    user_id = await site.add_user(ROOT, admin=True)
    browser = site.browser()
    await browser.sign_in(email=ROOT)
    return user_id, browser
