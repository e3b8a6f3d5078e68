//! Takes secrets out of text, before it is stored, cut or sent.
