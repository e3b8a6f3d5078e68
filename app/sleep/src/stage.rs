//! A night's proposal as a folder: manifest, report, proposed documents.
