//! The config of nights: keys, defaults and files of the reference system.
