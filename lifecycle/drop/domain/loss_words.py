"""Lists what a restore cannot bring back. Shown before the drop, beside the backup, and after.

The same sentences stand on the plan, the backup and the restore, and in the API.
"""

NOT_RESTORED = (
    "Ids, write ids, creation times and access times of the metastore are new, and so is the day "
    "of a grant or of column statistics.",
    "Sketches of distinct values are lost; the numbers of column statistics come back.",
    "Column grants on single partitions are lost: the metastore does not list them.",
    "A constraint comes back where its columns, and for a foreign key the other table, stand.",
    "Rules that are kept outside the metastore (Ranger and the like) are not touched at all.",
    "Under another name, foreign keys of other tables stay away; partitions that come into a table "
    "that stands already bring no grants or constraints of their old table.",
)

# A backup made before this was recorded, by the version of its intent.
NOT_RECORDED = (
    "This backup was made before grants, column statistics and constraints were recorded: they "
    "are lost, and no column's statistics are called right."
)
