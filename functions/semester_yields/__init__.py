"""3 L.P.R.A. § 786-7(a)(3): each semester's yield, prepared, approved, posted, and reversed where it was wrong."""
