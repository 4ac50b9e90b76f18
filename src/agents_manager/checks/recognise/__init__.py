"""Recognises the tools of a repository and proposes set-up commands and checks for it.

Every recogniser is a pure function of the files of one commit and the programs of the machine. One
module knows one tool: `node` and `python` hold those of their ecosystems.
"""
