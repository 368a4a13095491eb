"""Who answers tax questions: where each goes, which header fields pass, and how often it may be asked."""
