//! When nights run: the built-in clock and the installers for the system's own.
