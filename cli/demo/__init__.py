"""`retiro demo`: a semester from enrolment to posted yields."""
