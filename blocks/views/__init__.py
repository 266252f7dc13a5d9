"""Lists, App Home and reports."""
