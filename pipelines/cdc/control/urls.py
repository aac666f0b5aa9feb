"""Addresses of `pipelines.cdc.control`: pages and API."""

from django.urls import URLPattern, path

from pipelines.cdc.control.api import kept as api_kept
from pipelines.cdc.control.api import pipelines as api_pipelines
from pipelines.cdc.control.api import topics as api_topics
from pipelines.cdc.control.ui import actions, kept, pages

ui_urlpatterns: list[URLPattern] = [
    path("cdc/", pages.pipelines, name="pipelines"),
    # Beside the pipelines, for one of them may be called "create".
    path("create-cdc/", actions.create_view, name="create"),
    path("create-topics/", actions.create_topics_view, name="create-topics"),
    path("cdc/<slug:name>/", pages.pipeline, name="pipeline"),
    path("cdc/<slug:name>/edit/", actions.edit_view, name="edit"),
    path("cdc/<slug:name>/pause/", actions.pause_view, name="pause"),
    path("cdc/<slug:name>/resume/", actions.resume_view, name="resume"),
    path("cdc/<slug:name>/reload/", actions.reload_view, name="reload"),
    path("cdc/<slug:name>/delete/", actions.delete_view, name="delete"),
    path("cdc/<slug:name>/tables/<int:pk>/", pages.captured_table, name="table"),
    path("cdc/<slug:name>/tables/<int:pk>/pause/", actions.table_pause_view, name="table-pause"),
    path("cdc/<slug:name>/tables/<int:pk>/resume/", actions.table_resume_view, name="table-resume"),
    path("cdc/<slug:name>/tables/<int:pk>/reload/", actions.table_reload_view, name="table-reload"),
    path("cdc/<slug:name>/tables/<int:pk>/columns/", actions.column_view, name="table-column"),
    path(
        "cdc/<slug:name>/tables/<int:pk>/protections/",
        actions.table_protect_view,
        name="table-protect",
    ),
    path("cdc/<slug:name>/tables/<int:pk>/kept/", kept.kept_view, name="table-kept"),
    path(
        "cdc/<slug:name>/tables/<int:pk>/retry/",
        actions.quarantine_retry_view,
        name="quarantine-retry",
    ),
]

api_urlpatterns: list[URLPattern] = [
    path("cdc/", api_pipelines.PipelineList.as_view(), name="pipelines"),
    # Beside the pipelines, for one of them may be called "test".
    path("test-cdc/", api_pipelines.PipelineTest.as_view(), name="pipeline-test"),
    path("create-topics/", api_topics.TopicsCreate.as_view(), name="create-topics"),
    path("test-topics/", api_topics.TopicsTest.as_view(), name="test-topics"),
    path("cdc/<slug:name>/", api_pipelines.PipelineDetail.as_view(), name="pipeline"),
    path("cdc/<slug:name>/tables/", api_pipelines.PipelineTables.as_view(), name="tables"),
    path("cdc/<slug:name>/edit/", api_pipelines.PipelineEdit.as_view(), name="edit"),
    path("cdc/<slug:name>/edit-topics/", api_topics.TopicsEdit.as_view(), name="edit-topics"),
    path("cdc/<slug:name>/pause/", api_pipelines.PipelinePause.as_view(), name="pause"),
    path("cdc/<slug:name>/resume/", api_pipelines.PipelineResume.as_view(), name="resume"),
    path("cdc/<slug:name>/reload/", api_pipelines.PipelineReload.as_view(), name="reload"),
    path("cdc/<slug:name>/delete/", api_pipelines.PipelineDelete.as_view(), name="delete"),
    path("cdc/<slug:name>/tables/<int:pk>/pause/", api_pipelines.TablePause.as_view(),
         name="table-pause"),
    path("cdc/<slug:name>/tables/<int:pk>/resume/", api_pipelines.TableResume.as_view(),
         name="table-resume"),
    path("cdc/<slug:name>/tables/<int:pk>/reload/", api_pipelines.TableReload.as_view(),
         name="table-reload"),
    path("cdc/<slug:name>/tables/<int:pk>/columns/", api_pipelines.TableColumn.as_view(),
         name="table-column"),
    path("cdc/<slug:name>/tables/<int:pk>/protections/", api_pipelines.TableProtect.as_view(),
         name="table-protect"),
    path("cdc/<slug:name>/tables/<int:pk>/retry/", api_pipelines.QuarantineRetry.as_view(),
         name="quarantine-retry"),
    path("cdc/<slug:name>/tables/<int:pk>/kept/", api_kept.TableKept.as_view(), name="table-kept"),
]  # fmt: skip
