//! A supervisor of services, without heartbeats, pid files or time-outs: each service connects to it by name, says who it
//! is, and the kernel tells at once when it dies. A service that has died is started again, three times.
//!
//! ```sh
//! cargo run -p ysuite-shm --example supervisor
//! ```

#[cfg(target_os = "linux")]
mod program {
    use std::collections::BTreeMap;
    use std::process::{Child, Command};

    use ysuite_shm::{Event, Funnel, Sender, connect};

    pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

    const SERVICES: u64 = 3;
    const STARTS: u32 = 4;

    /// A service says who it is, and that it works; the odd ones crash.
    pub(crate) fn service(supervisor: &str, who: u64) -> Outcome<()> {
        let mut to = Sender::<u64>::from_fd(connect(supervisor)?, 8)?;
        to.send_batch([who, who])?;
        if who % 2 == 1 {
            std::process::abort();
        }
        Ok(())
    }

    #[derive(Default)]
    struct Service {
        process: Option<Child>,
        starts: u32,
    }

    impl Service {
        fn start(&mut self, supervisor: &str, who: u64) -> Outcome<()> {
            let mut program = Command::new(std::env::current_exe()?);
            self.process = Some(program.args([supervisor, &who.to_string()]).spawn()?);
            self.starts += 1;
            Ok(())
        }
    }

    pub(crate) fn supervise() -> Outcome<()> {
        let name = format!("supervisor-{}", std::process::id());
        let mut reports = Funnel::<u64>::bind(&name)?;
        let mut services: BTreeMap<u64, Service> = (0..SERVICES).map(|who| (who, Service::default())).collect();
        for (who, service) in &mut services {
            service.start(&name, *who)?;
        }
        // Who sends by which lane.
        let (mut lanes, mut running) = (BTreeMap::new(), SERVICES);
        while running > 0 {
            let ended = match reports.recv_event()? {
                Event::Message(lane, who) => {
                    lanes.insert(lane, who);
                    continue;
                }
                Event::Ended(ended) => ended,
            };
            let Some(who) = lanes.remove(&ended.sender) else { continue };
            let service = services.get_mut(&who).expect("a service of ours");
            let status = service.process.as_mut().expect("it was started").wait()?;
            if status.success() || service.starts == STARTS {
                running -= 1;
            } else {
                service.start(&name, who)?;
            }
        }
        for (who, service) in &services {
            println!("service {who}: {} starts", service.starts);
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn main() -> program::Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next(), arguments.next()) {
        (Some(supervisor), Some(who)) => program::service(&supervisor, who.parse()?),
        _ => program::supervise(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {}
