"""The listing of the extension: icon, pictures, films and text, made by `make listing`."""
