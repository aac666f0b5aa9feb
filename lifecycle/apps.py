"""Registers the lifecycle room with the platform: run kinds, approval kinds, pages, home cards."""

from django.apps import AppConfig


class LifecycleConfig(AppConfig):
    """The lifecycle room."""

    name = "lifecycle"
    label = "lifecycle"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register what this room adds; imported here, because models must be loaded first."""
        from lifecycle.services import (
            backup_kinds,
            backup_looks,
            clock_kinds,
            drill_alarms,
            drill_kinds,
            enrol_kinds,
            file_system_alarms,
            guard_events,
            path_fix_kinds,
            plan_kinds,
            policy_kinds,
            rescan,
            restore_undo,
            scan,
            standing_rules,
            why_look,
        )
        from lifecycle.ui import (
            calendar,
            drills_nav,
            findings_nav,
            guard_nav,
            path_fix_nav,
            plan_nav,
            policy_nav,
            run_subjects,
        )
        from lifecycle.ui import scan as scan_pages

        scan.register_kinds()
        plan_kinds.register_plan_kinds()
        standing_rules.register_standing_kinds()
        backup_kinds.register_backup_kinds()
        backup_looks.register_look_kinds()
        restore_undo.register_undo_kind()
        clock_kinds.register_clock_kinds()
        drill_kinds.register_drill_kinds()
        drill_alarms.register_drill_alarms()
        file_system_alarms.register_file_system_gauge()
        policy_kinds.register_policy_kinds()
        enrol_kinds.register_enrol_kinds()
        path_fix_kinds.register_path_fix_kinds()
        why_look.register_look_kind()
        rescan.register_subscriber()
        guard_events.register_subscriber()
        findings_nav.register_pages()
        scan_pages.register_scan_steps()
        plan_nav.register_pages()
        path_fix_nav.register_pages()
        policy_nav.register_pages()
        guard_nav.register_pages()
        calendar.register_pages()
        drills_nav.register_pages()
        run_subjects.register_run_subjects()
