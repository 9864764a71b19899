"""Contacts of bodies with each other and with colliders: from surfaces to velocities, and sides."""
