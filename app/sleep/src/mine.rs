//! Tasks out of digests: miners, merging, the filter for a target skill.
