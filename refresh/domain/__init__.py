"""Pure decisions of cache refresh: names, statements, answers, order, proof; `now` comes in."""
