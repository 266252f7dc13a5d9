"""Question types, rubrics, risk: rules for casework."""
