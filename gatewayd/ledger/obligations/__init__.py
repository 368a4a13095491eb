"""What has to be done by when, as it is kept: made anew, met, confirmed."""
