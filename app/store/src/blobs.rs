//! Texts addressed by their SHA-256, stored once and compressed when it pays.

use crate::error::StoreFailure;
use crate::sql::{Column, Doing};
use skillopt_domain::hash::Sha256Hex;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

const PLAIN: i64 = 0;
const ZSTD: i64 = 1;
const LEVEL: i32 = 1;
/// Shorter texts gain nothing.
const MIN_BYTES: usize = 256;
/// Rows of one statement. Powers of two, so that few statements are prepared.
const CHUNK: usize = 32;

thread_local! {
    // Making a context costs more than using it on a short text.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL).ok());
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = RefCell::new(Decompressor::new().ok());
}

/// A text as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct Blob {
    pub(crate) hash: Sha256Hex,
    pub(crate) codec: i64,
    pub(crate) size: i64,
    pub(crate) bytes: Vec<u8>,
}

impl Blob {
    /// Packs a text whose hash is known.
    pub(crate) fn pack(hash: Sha256Hex, text: &str) -> Self {
        let size = i64::try_from(text.len()).unwrap_or(i64::MAX);
        match compressed(text) {
            Some(bytes) => Self { hash, codec: ZSTD, size, bytes },
            None => Self { hash, codec: PLAIN, size, bytes: text.as_bytes().to_vec() },
        }
    }

    /// Reads the columns `codec`, `size` and `bytes`.
    pub(crate) fn unpack(row: &SqliteRow) -> Result<String, StoreFailure> {
        let (codec, bytes) = (row.int("codec")?, row.bytes("bytes")?);
        let bytes = match codec {
            PLAIN => bytes,
            ZSTD => decompressed(&bytes, usize::try_from(row.int("size")?).unwrap_or_default())
                .map_err(|err| StoreFailure::corrupt("a compressed text", err))?,
            other => return Err(StoreFailure::corrupt("a text", format!("codec {other}"))),
        };
        String::from_utf8(bytes).map_err(|err| StoreFailure::corrupt("a text", err))
    }
}

/// Stores texts; those that are there already stay.
pub(crate) async fn insert(
    conn: &mut SqliteConnection,
    blobs: &[&Blob],
) -> Result<(), sqlx::Error> {
    for chunk in chunks(blobs, CHUNK) {
        let mut insert =
            QueryBuilder::<Sqlite>::new("INSERT INTO blobs (hash, codec, size, bytes) ");
        insert.push_values(chunk, |mut row, blob| {
            row.push_bind(blob.hash.as_str())
                .push_bind(blob.codec)
                .push_bind(blob.size)
                .push_bind(blob.bytes.as_slice());
        });
        insert.push(" ON CONFLICT DO NOTHING");
        insert.build().execute(&mut *conn).await?;
    }
    Ok(())
}

/// The text of a hash.
pub(crate) async fn read(
    conn: &mut SqliteConnection,
    hash: &str,
) -> Result<Option<String>, StoreFailure> {
    let row = sqlx::query("SELECT codec, size, bytes FROM blobs WHERE hash = ?")
        .bind(hash)
        .fetch_optional(conn)
        .await
        .doing("read a text")?;
    row.as_ref().map(Blob::unpack).transpose()
}

/// Cuts a slice in pieces of `largest`, then in ever smaller powers of two: a statement for each size is
/// prepared once, whatever the length of the slice. `largest` is a power of two.
pub(crate) fn chunks<T>(mut rows: &[T], largest: usize) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let length = rows.len().checked_ilog2().map(|log| largest.min(1 << log))?;
        let (chunk, rest) = rows.split_at(length);
        rows = rest;
        Some(chunk)
    })
}

fn compressed(text: &str) -> Option<Vec<u8>> {
    if text.len() < MIN_BYTES {
        return None;
    }
    let packed = COMPRESSOR
        .with_borrow_mut(|compressor| compressor.as_mut()?.compress(text.as_bytes()).ok())?;
    // A tenth less is worth the time to unpack it.
    (packed.len() < text.len() - text.len() / 10).then_some(packed)
}

fn decompressed(bytes: &[u8], size: usize) -> std::io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|decompressor| match decompressor {
        Some(decompressor) => decompressor.decompress(bytes, size),
        None => zstd::bulk::decompress(bytes, size),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_all_rows_in_few_sizes() {
        let rows: Vec<usize> = (0..77).collect();
        let lengths: Vec<usize> = chunks(&rows, 32).map(<[usize]>::len).collect();
        assert_eq!(lengths, [32, 32, 8, 4, 1]);
        assert_eq!(chunks(&rows, 32).flatten().copied().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn short_and_random_texts_stay_plain() {
        let pack = |text: &str| Blob::pack(Sha256Hex::of(text), text).codec;
        assert_eq!(pack("short"), PLAIN);
        assert_eq!(pack(&"the same words again ".repeat(50)), ZSTD);
    }
}
