"""Hide a day, rebuild it, show it, and wait until StarRocks answers with it.

For Airflow 3. On the workers: `pip install ./cli`, and the address of the portal and the file of an
API token (scopes `refresh` and `readiness`) in LAKEWARDEN_URL and LAKEWARDEN_TOKEN_FILE. The exit
code fails a task, so that Airflow's own retries do the rest.
"""

from datetime import UTC, datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Param

LAKEWARDEN = "lakewarden {command} {{{{ params.table }}}} --partition dt={{{{ ds }}}}"


def lakewarden(task_id: str, command: str, *, more: str = "") -> BashOperator:
    """Return a task that runs one command of the command line."""
    line = f"{LAKEWARDEN.format(command=command)} {more}".rstrip()
    return BashOperator(task_id=task_id, bash_command=line, append_env=True)


with DAG(
    "rebuild_a_day",
    schedule="@daily",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    params={"table": Param("shop.sales", type="string")},
    default_args={"retries": 5, "retry_delay": timedelta(minutes=1)},
):
    hide = lakewarden("hide", "ready", more="--not")
    job = BashOperator(task_id="job", bash_command="echo 'your spark-submit goes here'")
    show = lakewarden("show", "ready")
    wait = lakewarden("wait", "wait-fresh", more="--timeout 600")
    hide >> job >> show >> wait
