use ysuite::queue::ypipe::{self, Writer};
use ysuite::spsc;

fn ypipe<'a>(writer: Writer<&'a str>) -> Writer<&'a str> {
    writer
}

fn spsc<'a>(sender: spsc::Sender<&'a str>) -> spsc::Sender<&'a str> {
    sender
}

fn main() {
    let text = String::from("message");
    let (writer, mut reader) = ypipe::unbounded();
    let (sender, mut receiver) = spsc::unbounded();
    let (mut writer, mut sender) = (ypipe(writer), spsc(sender));
    writer.write(text.as_str()).unwrap();
    writer.flush();
    sender.send(text.as_str()).unwrap();
    assert_eq!((reader.read(), receiver.try_recv()), (Some("message"), Ok("message")));
}
