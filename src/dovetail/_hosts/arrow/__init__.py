"""The arrow host: tables of one process, in any library that speaks Arrow, joined on all of its cores."""
