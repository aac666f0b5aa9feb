"""How do templates say a path rule in words?"""

from django import template

from lifecycle.ui import words

register = template.Library()

register.filter("reason_word", words.reason_word)
register.filter("reason_remedy", words.reason_remedy)
