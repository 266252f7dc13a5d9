import pathlib
import sys

text = pathlib.Path("state").read_text()
print(text)
sys.exit("bad" in text)
