use ysuite::queue::ypipe::{self, Writer};
use ysuite::spsc;

fn ypipe(writer: Writer<&str>) -> Writer<&str> {
    writer
}

fn spsc(sender: spsc::Sender<&str>) -> spsc::Sender<&str> {
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
