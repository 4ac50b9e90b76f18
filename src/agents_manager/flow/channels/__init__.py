"""People are told and answer elsewhere, too: what is to be told, the telling, and the desk that
takes what they do."""
