use ysuite::queue::ypipe;

struct Looks<'a>(&'a str);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        assert_eq!(self.0, "message");
    }
}

fn main() {
    let text = String::from("message");
    let (mut writer, _reader) = ypipe::unbounded();
    assert!(writer.write(Looks(&text)).is_ok());
}
