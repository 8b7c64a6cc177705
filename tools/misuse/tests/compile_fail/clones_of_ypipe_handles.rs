use ysuite::queue::ypipe;

fn main() {
    let (writer, reader) = ypipe::unbounded::<u8>();
    let _ = writer.clone();
    let _ = reader.clone();
}
