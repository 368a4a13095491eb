"""Documents of strangers, read into text, facts and pictures in a child process. Knows no store and no organization."""
