"""What templates are given and how it is written: shapes, words, charts, and the gallery that shows them."""
