"""What owners are told and when: week ahead, day ahead, daily report, calendar."""
