"""The demo's StarRocks clusters: started, asked by dashboards, and kept fresh by the portal."""

from stack.clusters import Clusters
from stack.dashboards import open_dashboards, trouble_front_ends
from stack.demo_days import Made
from stack.programs import Programs
from stack.say import console, step
from stack.stack import Stack


def set_up_front_ends(stack: Stack, programs: Programs, made: Made) -> None:
    """Start both clusters, have the portal keep them fresh, and trouble two front ends."""
    with step("StarRocks, simulated: two clusters of three front ends"):
        for server in (stack.starrocks, stack.old_starrocks):
            places = ", ".join(f"{host}:{port}" for host, port in server.addresses)
            console.print(f"  [dim]{server.name} ({server.spec.version}) on {places}[/]")
        open_dashboards(stack)
    add_clusters(stack.clusters, programs, made)
    with step("One front end grows slow, one is restarted"):
        trouble_front_ends(stack)


def add_clusters(clusters: Clusters, programs: Programs, made: Made) -> None:
    """Make the clusters known to the portal, which reads the rest from their front ends."""
    for cluster in clusters.told():
        name, places = cluster["name"], cluster["front_ends"]
        title = f"The StarRocks cluster {name} is kept fresh from now on"
        with made.once(f"cluster {name}", title) as todo:
            if todo:
                command = ["refresh_cluster", "add", name]
                command += [word for place in places for word in ("--at", place)]
                command += ["--user", cluster["user"]]
                command += ["--password-file", cluster["password_file"]]
                programs.portal(*command)
