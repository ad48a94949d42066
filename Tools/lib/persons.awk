# Lists lines that leave open which part acts: <file>:<line>: <the word>.
# Reads comments, names of tests, literals and text of pages alike.

BEGIN { count = split("nobody somebody whoever everybody everyone anybody anyone someone", words, " ") }

{
  text = " " tolower($0) " "
  gsub(/[^a-z]/, " ", text)
  for (i = 1; i <= count; i++) if (index(text, " " words[i] " ")) print FILENAME ":" FNR ": " words[i]
}
