"""The known estimators of populations with births and deaths, from capture histories."""
