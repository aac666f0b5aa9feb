"""Values of the access grid for the two links of a mail that may be turned off."""

from django.utils import timezone

from portal.approvals.comment_mails import KIND as COMMENTS
from portal.notices.muting_links import MutingLink, muting_path, one_click_headers
from portal.notices.services import Mail, notice_queue
from tests.component.lifecycle.plan_world import LAKE, NOW


def mail_values() -> dict[str, str]:
    """Return what the two links of a mail of comments to alice say."""
    link = MutingLink("alice", COMMENTS, timezone.localdate())
    notice = notice_queue(
        f"{COMMENTS}.1",
        lake=LAKE,
        day=timezone.localdate(),
        recipient="alice",
        email="alice@example.org",
        mail=Mail("News", "Hello."),
        now=NOW,
    )
    one_click = one_click_headers(notice)["List-Unsubscribe"].strip("<>")
    urls = {"off_token": muting_path(link), "one_click_token": one_click}
    return {key: url.rstrip("/").rsplit("/", 1)[1] for key, url in urls.items()}
