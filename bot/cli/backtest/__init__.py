"""`triage backtest`."""
