"""Where a join runs: one folder per host, each handing the same core its rows."""
