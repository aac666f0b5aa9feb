"""Programs get the lake's properties of Hadoop clients; what it says of Spark comes after them."""

from dataclasses import replace
from pathlib import Path

from portal.lake.ids import LakeId
from tests.component.portal.spark.launched import said_of
from tests.support.lakes import local_lake

NAMES = "spark.hadoop.dfs.nameservices"


def test_programs_get_the_properties_of_hadoop_clients(tmp_path: Path) -> None:
    lake = replace(
        local_lake(tmp_path, LakeId("main")), hadoop_conf={"dfs.nameservices": "lake,old"}
    )
    assert said_of(NAMES, lake) == [f"{NAMES}=lake,old"]
    told = replace(lake, spark_conf={NAMES: "lake"})
    assert said_of(NAMES, told) == [f"{NAMES}=lake"]
