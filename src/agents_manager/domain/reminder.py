"""When people are reminded of a question, and when they are left in peace."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """A part of every day, by the clock on the wall: that clock knows of summer time, and an hour
    that it shows twice or never is quiet as it shows it."""

    start: time
    end: time
    zone: tzinfo | None
    """None: that of this machine."""

    def hold(self, now: datetime) -> bool:
        wall = now.astimezone(self.zone).time()
        if self.start < self.end:
            return self.start <= wall < self.end
        return wall >= self.start or wall < self.end

    def over(self, now: datetime) -> datetime:
        """When those that hold now end."""
        wall = now.astimezone(self.zone)
        end = datetime.combine(wall.date(), self.end, wall.tzinfo)
        if end <= wall:
            end = datetime.combine(wall.date() + timedelta(days=1), self.end, wall.tzinfo)
        return max(end.astimezone(UTC), now + timedelta(minutes=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminders:
    every_s: float | None
    """None: nobody is reminded."""
    quiet: QuietHours | None

    def silent_since(self, now: datetime) -> datetime | None:
        """Of questions that nobody heard of since then, people are reminded now."""
        if self.every_s is None or (self.quiet is not None and self.quiet.hold(now)):
            return None
        return now - timedelta(seconds=self.every_s)
