import sys

from tests.histories.record import main

main(sys.argv[1:])
