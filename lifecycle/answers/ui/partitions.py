"""Takes the answer of the bar above a table's partitions, and leads back to them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST

from lifecycle.answers.domain import Answer
from lifecycle.answers.services.partitions import ChosenPartitions, partitions_answer
from lifecycle.answers.ui.bulk import AnswersForm, said_words
from lifecycle.core.ui.links import partitions_url
from lifecycle.inventory.selectors.findings import get_table_for_user, items_of
from portal.lake.errors import RuleViolation
from portal.ui.frame.addresses import back_or
from portal.ui.frame.context import current_lake, person


@require_POST
def partition_answers(request: HttpRequest, db: str, table: str) -> HttpResponse:
    """Answer for the ticked partitions; what is wrong for all is shown on the form again."""
    lake, user, form = current_lake(request), person(request), AnswersForm(request.POST)
    back = back_or(request, partitions_url(lake, db, table))
    found = get_table_for_user(lake, db, table, user=user)
    keys = [key for key in request.POST.getlist("partitions") if key.isdecimal()]
    if form.is_valid():
        data = form.cleaned_data
        kind, days = data["answer"]
        names = items_of(found).filter(pk__in=keys).order_by("partition")
        chosen = ChosenPartitions(
            lake, db, table, list(names.values_list("partition", flat=True)), data["seen_at"]
        )
        try:
            if len(chosen.partitions) < len(set(keys)):
                raise RuleViolation(
                    "answers.gone",
                    "Some of the ticked partitions are of a scan that is not kept any more. "
                    "Reload the list and tick them again.",
                )
            answer = Answer(kind, data["reason"].strip(), days)
            result = partitions_answer(chosen, answer, user=user, now=timezone.now())
        except RuleViolation as error:
            field = str(error.fields.get("field", ""))
            form.add_error(field if field in form.fields else None, error.message)
        else:
            is_whole = result.n_done and not result.n_refused
            (messages.success if is_whole else messages.warning)(request, result.words)
            return HttpResponseRedirect(back)
    form.fields.pop("to")
    context = {
        "form": form,
        "found": found,
        "rows": keys,
        "back": back,
        "words": said_words(request.POST.get("answer", ""), n_rows=len(keys), noun="partition"),
    }
    return render(request, "lifecycle/partition_answers_again.html", context, status=400)
