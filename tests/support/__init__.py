"""What the tests of several rooms stand on."""
