"""What belongs to the person at the room and not to the company: settings, keys, themes, what is remembered."""

from dataclasses import dataclass, field
from pathlib import Path

from tui.keymap import USUAL, Keymap
from tui.remembered import Memory, state_file
from tui.settings import FILE, Settings, config_folder, read_settings


@dataclass(frozen=True, slots=True)
class Personal:
    """As it is read before the room starts. By default nobody's: no file is read, and nothing outlives the room."""

    settings: Settings = field(default_factory=Settings)
    keymap: Keymap = USUAL
    memory: Memory = field(default_factory=Memory)
    themes: Path | None = None
    """The folder with this person's own themes."""

    @classmethod
    def read(cls, folder: Path | None = None, state: Path | None = None) -> "Personal":
        """Of this person, or of these places; blocks. Raises Invalid for wrong settings, with line and column."""
        folder = folder or config_folder()
        settings, keymap = read_settings(folder / FILE)
        memory = Memory.read((state or state_file()) if settings.remember else None)
        return cls(settings, keymap, memory, folder / "themes")
