//! Commands to the thread of a database, and rows from it.

use futures_util::TryStreamExt;
use sqlx::{Connection, Row, SqliteConnection};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), sqlx::Error> {
    let mut connection = SqliteConnection::connect("sqlite::memory:").await?;
    sqlx::query("CREATE TABLE numbers (number INTEGER PRIMARY KEY, text TEXT)").execute(&mut connection).await?;
    for number in 0..20_000_i64 {
        sqlx::query("INSERT INTO numbers VALUES (?, ?)").bind(number).bind("a text").execute(&mut connection).await?;
    }
    let mut sum = 0;
    for _ in 0..10 {
        let mut rows = sqlx::query("SELECT number, text FROM numbers").fetch(&mut connection);
        while let Some(row) = rows.try_next().await? {
            sum += row.get::<i64, _>(0);
        }
    }
    assert_eq!(sum, 10 * 20_000 * 19_999 / 2);
    Ok(())
}
