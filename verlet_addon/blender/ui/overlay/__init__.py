"""The overlay of soft bodies in the viewports: pins, attachments, colliders and strain."""
