"""The template of addresses of drivers' logs is refused at the start unless it can be one."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from portal.settings.driver_logs import driver_log_template


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://history.example.org/history/{application_id}/1/executors/",
        "http://rm:8088/cluster/app/{application_id}",
        "https://logs/search?q={application_id}&n=5",
    ],
)
def test_an_address_with_the_id_in_it_is_taken(text: str) -> None:
    assert driver_log_template(f" {text} ") == text


@pytest.mark.parametrize(
    "text",
    [
        "history/{application_id}",
        "ftp://host/{application_id}",
        "javascript:alert({application_id})",
        "https:///{application_id}",
        "https://host/app",
        "https://{application_id}.host/",
        "https://host/{application_id}/{application_id}",
        "https://host/{application_id}/{run}",
        "https://host/{application_id}/}",
        "https://user:word@host/{application_id}",
        "https://host/a b/{application_id}",
        "https://host/\x00{application_id}",
        "https://[host/{application_id}",
    ],
)
def test_everything_else_stops_the_start(text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="LAKEWARDEN_DRIVER_LOG_URL"):
        driver_log_template(text)
