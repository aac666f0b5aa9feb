"""The platform: identity, runs, approvals, audit, notices, safety of acting runs, and the page kit.

It names no area; areas register what they bring. `lake` is the pure vocabulary, `connectors` speak
to outside systems (metastore, HDFS, LDAP), `spark` starts jobs, and `runs` drives every run.
`access` and `people` say who somebody is, `approvals` who may approve, `safety` holds the emergency
stop and the fence, `audit` the record of acts, `notices` the mail, `events` the follower of the
metastore, `catalog` one row per table, and `ui` the pages and the API.
"""
