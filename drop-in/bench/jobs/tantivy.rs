//! Indexes documents of forty words, on two threads.

use tantivy::schema::{STORED, STRING, Schema, TEXT};
use tantivy::{Index, doc};

fn main() -> tantivy::Result<()> {
    const DOCUMENTS: u64 = 30_000;
    let mut schema = Schema::builder();
    let title = schema.add_text_field("title", STRING | STORED);
    let body = schema.add_text_field("body", TEXT);
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer_with_num_threads(2, 200_000_000)?;
    let mut random = 1_u64;
    for number in 0..DOCUMENTS {
        let mut text = String::new();
        for _ in 0..40 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(&format!("word{} ", random >> 52));
        }
        writer.add_document(doc!(title => format!("document {number}"), body => text))?;
    }
    writer.commit()?;
    assert_eq!(index.reader()?.searcher().num_docs(), DOCUMENTS);
    Ok(())
}
