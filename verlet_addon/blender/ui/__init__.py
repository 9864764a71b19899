"""Operators, panels, menus and presets: what users see and press."""
