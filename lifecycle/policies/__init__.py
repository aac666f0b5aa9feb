"""LEVEL, TTL, owners, holds, extensions and exceptions of tables and databases.

`domain/policy.py` decides which values are valid and who may set them, `services/requests.py`
handles policy requests, and `services/metastore.py` writes them. Owners keep data longer by
`services/extensions.py` and consent to the deletion of recently read data in
`services/deletion_consents.py`.
"""
