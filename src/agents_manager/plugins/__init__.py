"""What installed packages add, by entry points; what is built in is registered the same way."""

from agents_manager.plugins.additions import Additions
from agents_manager.plugins.loading import GROUP, Known, load

__all__ = ["GROUP", "Additions", "Known", "load"]
