"""The user interface: operators, panels, menus and presets."""
