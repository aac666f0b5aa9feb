"""Tests that systemd and nginx accept the files of a deployment."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from stack.deploy_assets import program
from stack.places import REPO
from tests.support.certificates import Signer

INSTALLED = "/opt/lakewarden"


def accepted(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_systemd_accepts_every_unit(tmp_path: Path) -> None:
    units = []
    for unit in sorted((REPO / "deploy" / "systemd").glob("lakewarden*.[st]*")):
        if unit.suffix in {".service", ".target"}:
            text = unit.read_text(encoding="utf-8").replace(INSTALLED, str(REPO))
            copy = tmp_path / unit.name
            copy.write_text(text, encoding="utf-8")
            units.append(str(copy).replace("@.", "@scan."))
            if "@" in unit.name:
                copy.rename(units[-1])
    done = accepted([str(program("systemd-analyze")), "verify", "--man=no", *units])
    assert (done.returncode, done.stderr) == (0, "")
    assert len(units) == 6


def test_systemd_makes_the_accounts_and_their_folders(tmp_path: Path) -> None:
    for kind in ("sysusers", "tmpfiles"):
        name = f"lakewarden.{kind}.conf"
        target = tmp_path / "etc" / f"{kind}.d" / "lakewarden.conf"
        target.parent.mkdir(parents=True)
        target.write_text((REPO / "deploy" / "systemd" / name).read_text("utf-8"), "utf-8")
        command = [str(program(f"systemd-{kind}")), f"--root={tmp_path}"]
        done = accepted([*command, *(["--create"] if kind == "tmpfiles" else [])])
        assert done.returncode == 0, done.stderr
    people = (tmp_path / "etc" / "passwd").read_text("utf-8")
    uids = {line.split(":")[0]: int(line.split(":")[2]) for line in people.splitlines()}
    assert set(uids) == {"lw-web", "lw-scan", "lw-act"}
    for name, uid in uids.items():
        found = (tmp_path / "var" / "lib" / "lakewarden" / name.removeprefix("lw-")).stat()
        assert (found.st_uid, found.st_mode & 0o777) == (uid, 0o700)


def test_a_unit_with_an_unknown_setting_would_be_told(tmp_path: Path) -> None:
    unit = tmp_path / "lakewarden-wrong.service"
    unit.write_text("[Service]\nExecStart=/bin/true\nKillMode=gently\n", encoding="utf-8")
    done = accepted([str(program("systemd-analyze")), "verify", "--man=no", str(unit)])
    assert "Failed to parse kill mode" in done.stderr


def test_nginx_accepts_the_site(tmp_path: Path) -> None:
    pair = Signer(tmp_path).pair("site")
    site = (REPO / "deploy" / "nginx" / "lakewarden.conf").read_text(encoding="utf-8")
    site = site.replace("/etc/lakewarden/tls/site.pem", str(pair.certificate))
    site = site.replace("/etc/lakewarden/tls/site.key", str(pair.key))
    main = tmp_path / "nginx.conf"
    pid = f"pid {tmp_path / 'pid'};\nerror_log stderr;\nevents {{}}\n"
    main.write_text(f"{pid}http {{\n{site}\n}}\n", encoding="utf-8")
    done = accepted([str(program("nginx")), "-t", "-c", str(main)])
    assert done.returncode == 0, done.stderr
