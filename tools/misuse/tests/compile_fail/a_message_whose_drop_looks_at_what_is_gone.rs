use ysuite::queue::ypipe;

struct Looks<'a>(&'a str);

impl Drop for Looks<'_> {
    fn drop(&mut self) {
        assert_eq!(self.0, "message");
    }
}

fn main() {
    let (mut writer, _reader) = ypipe::unbounded();
    let text = String::from("message");
    assert!(writer.write(Looks(&text)).is_ok());
}
